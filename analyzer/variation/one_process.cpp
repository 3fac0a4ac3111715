#include "analyzer/variation/one_process.h"

#include <algorithm>
#include <optional>


namespace allranks::variation {
namespace {

constexpr int kDeepestCondition = 6;

bool IsNumberOfRanks(const Value& value) {
  return IsCoordinate(value, knowledge::Coordinate::WorldSize) || IsCoordinate(value, knowledge::Coordinate::LocalWorldSize);
}

// `size op number` in a job of that size.
std::optional<bool> Compared(ir::CompareOp op, int64_t size, int64_t number) {
  switch (op) {
    case ir::CompareOp::Eq:
      return size == number;
    case ir::CompareOp::NotEq:
      return size != number;
    case ir::CompareOp::Less:
      return size < number;
    case ir::CompareOp::LessEq:
      return size <= number;
    case ir::CompareOp::Greater:
      return size > number;
    case ir::CompareOp::GreaterEq:
      return size >= number;
    default:
      return std::nullopt;
  }
}

std::optional<bool> TruthAt(const ValueStore& store, ValueId id, int64_t size, int depth) {
  const Value& value = store[id];
  if (depth > kDeepestCondition) return std::nullopt;
  if (value.is_not()) {
    const std::optional<bool> inner = TruthAt(store, store.OperandOf(id), size, depth + 1);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  if (value.kind == ValueKind::And || value.kind == ValueKind::Or) {
    const bool is_and = value.kind == ValueKind::And;
    bool all_known = true;
    for (const ValueId kid : store.Kids(id)) {
      const std::optional<bool> known = TruthAt(store, kid, size, depth + 1);
      if (known == !is_and) return !is_and;
      all_known = all_known && known;
    }
    return all_known ? std::optional(is_and) : std::nullopt;
  }
  if (value.kind != ValueKind::Compare) return std::nullopt;
  const Value& left = store[store.OperandsOf(id).left];
  const Value& right = store[store.OperandsOf(id).right];
  const auto op = value.compare_op();
    if (IsNumberOfRanks(left) && right.count()) return Compared(op, size, *right.count());
  if (left.count() && IsNumberOfRanks(right)) return Compared(op, *left.count(), size);
  return std::nullopt;
}

}  // namespace

bool IsOfOneProcess(const ValueStore& store, ValueId condition) {
  constexpr int64_t kSizes[] = {2, 3, 4, 8};
  const bool may_be_one = condition && TruthAt(store, condition, 1, 0) != false;
  return may_be_one && std::ranges::all_of(kSizes, [&](int64_t size) { return TruthAt(store, condition, size, 0) == false; });
}

}  // namespace allranks::variation
