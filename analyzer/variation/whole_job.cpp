#include "analyzer/variation/whole_job.h"

namespace allranks::variation {
namespace {

bool IsOfAllRanks(const ValueStore& store, ValueId group, int depth) {
  constexpr int kDeepest = 8;
  if (!group) return true;
  const Value& value = store[group];
  if (value.kind == ValueKind::None || value.is_group(GroupKind::World)) return true;
  if (value.kind != ValueKind::Select || depth == kDeepest) return false;
  const auto [condition, then_value, else_value] = store.ArmsOf(group);
  return store.axes(condition).empty() && IsOfAllRanks(store, then_value, depth + 1) && IsOfAllRanks(store, else_value, depth + 1);
}

}  // namespace

bool IsOfAllRanks(const ValueStore& store, ValueId group) { return IsOfAllRanks(store, group, 0); }

}  // namespace allranks::variation
