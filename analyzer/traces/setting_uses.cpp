#include "analyzer/traces/setting_uses.h"

#include <algorithm>
#include <map>

#include "analyzer/traces/conditions.h"
#include "analyzer/traces/sequence.h"

namespace allranks::traces {
namespace {

constexpr size_t kMostSettings = 64;

}  // namespace

SettingUses::SettingUses(const TraceStore& traces, std::span<const Assignment> tries) : traces_(traces) {
  std::map<uint32_t, uint64_t> brought;
  if (tries.empty()) return;
  for (const auto& [setting, first] : tries[0]) {
    const bool is_tried = std::ranges::any_of(tries, [&, value = first](const Assignment& other) { return other.at(setting) != value; });
    if (!is_tried) continue;
    // More than there are bits share the last one.
    if (settings_.size() < kMostSettings) settings_.push_back(setting);
    const uint64_t bit = uint64_t{1} << (settings_.size() - 1);
    brought[setting] |= bit;
    const std::optional<Equality> equality = EqualityOf(traces.values(), ValueId{setting}, true);
    const std::optional<Equality> otherwise = EqualityOf(traces.values(), ValueId{setting}, false);
    if (equality) brought[equality->subject.index] |= bit;
    if (otherwise) brought[otherwise->subject.index] |= bit;
  }
  for (const auto& [value, bits] : brought) brought_.Add(value, bits);
}

uint64_t SettingUses::AskedOf(TraceId trace, const Assignment& assignment) {
  uint64_t hash = 0;
  uint64_t uses = settings_.empty() ? 0 : In(trace);
  for (size_t bit = 0; uses != 0; ++bit, uses >>= 1) {
    if ((uses & 1) != 0) hash ^= Token(bit + 1, settings_[bit], static_cast<uint64_t>(assignment.at(settings_[bit])));
  }
  return hash;
}

uint64_t SettingUses::In(TraceId trace) {
  if (const uint64_t* known = in_traces_.Find(trace.index)) return *known;
  const TraceKind kind = traces_[trace].kind;
  uint64_t uses = kind == TraceKind::Op ? InOperation(trace) : In(traces_[trace].value);
  for (const TraceId kid : traces_.Kids(trace)) uses |= In(kid);
  in_traces_.Add(trace.index, uses);
  return uses;
}

uint64_t SettingUses::InOperation(TraceId id) {
  const Operation& operation = traces_.operation(id);
  uint64_t uses = 0;
  for (const ValueId value : {operation.group, operation.root, operation.count, operation.reduce_op, operation.dtype, operation.tensor, operation.peer}) uses |= In(value);
  return uses;
}

uint64_t SettingUses::In(ValueId value) {
  if (!value) return 0;
  const uint64_t* brought = brought_.Find(value.index);
  uint64_t uses = brought != nullptr ? *brought : 0;
  if (traces_.values().Kids(value).empty()) return uses;
  if (const uint64_t* known = in_values_.Find(value.index)) return *known;
  for (const ValueId kid : traces_.values().Kids(value)) uses |= In(kid);
  in_values_.Add(value.index, uses);
  return uses;
}

}  // namespace allranks::traces
