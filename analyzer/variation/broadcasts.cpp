#include "analyzer/variation/broadcasts.h"

#include <algorithm>

namespace allranks::variation {

ValueId Broadcasts::Joined(ValueId condition, ValueId then_value, ValueId else_value) const {
  if (IsReceived(condition, then_value, else_value)) return then_value;
  if (IsReceived(store_.Not(condition), else_value, then_value)) return else_value;
  return store_.Select(condition, then_value, else_value);
}

// Whether `received`, which a rank has where `condition` holds, is what the root sent of its own `sent`.
bool Broadcasts::IsReceived(ValueId condition, ValueId received, ValueId sent) const {
  // `std::vector<T> values(count)` with a count that was received: as long as what the root has.
  if (containers_.IsRepeated(received)) {
    const ValueId count = store_.OperandsOf(received).right;
    const auto told = sent_.find(count);
    const ValueId length = told == sent_.end() ? ValueId() : LengthOn(told->second.root, sent);
    return length && IsReceived(condition, count, length);
  }
  const auto broadcast = sent_.find(PlaceTaken(received) ? store_.Kids(received)[0] : received);
  if (broadcast == sent_.end() || TruthOnRoot(condition, broadcast->second.root) != false) return false;
  // The root may send from the other arm: `if rank == 0: box = [x]; broadcast(box)`, `else: box = [None]; broadcast(box); x = box[0]`.
  return std::ranges::any_of(sent_, [&](const auto& other) {
    return other.second.root == broadcast->second.root && IsSentBy(other.second, received, sent);
  });
}

bool Broadcasts::IsSentBy(const Sent& broadcast, ValueId received, ValueId sent) const {
  ValueId content = OnRoot(broadcast.before, broadcast.root);
  if (const std::optional<uint32_t> place = PlaceTaken(received)) {
    if (store_[content].kind != ValueKind::Tuple || *place >= store_[content].kid_count) return false;
    content = store_.Kids(content)[*place];
  }
  return OnRoot(content, broadcast.root) == OnRoot(sent, broadcast.root);
}

// The place of an item that is taken out of a box, `box[0]`; none of anything else.
std::optional<uint32_t> Broadcasts::PlaceTaken(ValueId received) const {
  if (!store_[received].is_derived(tables_.NameSymbol("[]"))) return std::nullopt;
  const Value& place = store_[store_.Kids(received)[1]];
  return place.kind == ValueKind::Int ? std::optional(static_cast<uint32_t>(*place.integer())) : std::nullopt;
}

// `box = [value]` on the root, `[None]` elsewhere.
ValueId Broadcasts::OnRoot(ValueId value, ValueId root) const {
  while (store_[value].kind == ValueKind::Select) {
    const Arms arms = store_.ArmsOf(value);
    const std::optional<bool> holds = TruthOnRoot(arms.condition, root);
    if (!holds) break;
    value = *holds ? arms.then_value : arms.else_value;
  }
  return value;
}

// How many items a container has on the root; none if that is not known.
ValueId Broadcasts::LengthOn(ValueId root, ValueId container) const {
  const ValueId known = containers_.Itself(container);
  if (containers_.IsRepeated(known)) return store_.OperandsOf(known).right;
  if (const ValueId there = OnRoot(known, root); there != known) return LengthOn(root, there);
  if (!containers_.IsGrown(known)) return {};
  const Change change = containers_.ChangeOf(known);
  return containers_.IsEmpty(LookThrough(tables_, change.before)) ? containers_.Count({&change.how_often, 1}) : ValueId();
}

// What a test that tells one rank from all others is on that rank; none for other conditions.
std::optional<bool> Broadcasts::TruthOnRoot(ValueId condition, ValueId root) const {
  const Value& value = store_[condition];
  if (value.is_not()) {
    const std::optional<bool> inner = TruthOnRoot(store_.OperandOf(condition), root);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  if (!value.is_equality()) return std::nullopt;
  const auto [left, right] = store_.OperandsOf(condition);
  const auto is_rank = [&](ValueId side) { return IsCoordinate(store_[side], knowledge::Coordinate::Rank); };
  const bool asks_for_it = (is_rank(left) && right == root) || (is_rank(right) && left == root);
  return asks_for_it ? std::optional(value.is_compare(ir::CompareOp::Eq)) : std::nullopt;
}

}  // namespace allranks::variation
