#include "analyzer/traces/counts.h"

#include <algorithm>

namespace allranks::traces {
namespace {

using knowledge::Axes;
using variation::Value;
using variation::ValueKind;

constexpr int kDeepestList = 4;

// Whether the number is one on all ranks, `tried` standing for each unknown that they share. Nothing if it is not known.
std::optional<bool> IsSameNumber(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, const World& world,
                                 ValueId id, int64_t tried) {
  Assignment assignment;
  std::vector<ValueId> parts;
  Evaluator(values, knowledge, world, assignment).UnknownParts(id, &parts);
  for (const ValueId part : parts) {
    if (values.axes(part).empty()) assignment.emplace(part.index, tried);
  }
  Evaluator evaluator(values, knowledge, world, assignment);
  const Outcome first = evaluator.Evaluate(id, 0);
  if (first.kind != OutcomeKind::Number) return std::nullopt;
  bool is_same = true;
  for (uint32_t rank = 1; rank < world.size(); ++rank) {
    const Outcome other = evaluator.Evaluate(id, rank);
    if (other.kind != OutcomeKind::Number) return std::nullopt;
    is_same = is_same && other.number == first.number;
  }
  return is_same;
}

bool IsSame(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, const World& world, ValueId id, int depth) {
  if (!id || values.axes(id).empty()) return true;
  const auto with = [&](int64_t tried) { return IsSameNumber(values, knowledge, world, id, tried); };
  // A condition that holds, and a number that neither two nor three ranks share alike; then one that does not hold, by
  // which not every formula can be worked out.
  if (with(1).value_or(false) && with(7).value_or(false) && with(0).value_or(true)) return true;
  const Value& value = values[id];
  if (value.kind != ValueKind::Derived || !values.IsStructural(value.symbol()) || depth > kDeepestList) return false;
  return std::ranges::all_of(values.Kids(id), [&](ValueId kid) { return IsSame(values, knowledge, world, kid, depth + 1); });
}

class CountWalk {
 public:
  CountWalk(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, const World& world)
      : values_(values), knowledge_(knowledge), world_(world) {}

  void Number(ValueId id, int depth) {
    if (!id || depth > kDeepest) return;
    const Value& value = values_[id];
    if (value.axes.empty()) return;
    const auto kids = values_.Kids(id);
    switch (value.kind) {
      case ValueKind::Select:
        Decider(kids[0]);
        Number(kids[1], depth + 1);
        Number(kids[2], depth + 1);
        break;
      case ValueKind::Unary:
      case ValueKind::Binary:
        for (const ValueId kid : kids) Number(kid, depth + 1);
        break;
      case ValueKind::Derived:
        if ((value.flags & variation::kCounted) != 0) Counted(id, depth + 1);
        else if (values_.IsLength(value.symbol())) Items(kids[0], depth + 1);
        break;
      default:
        break;
    }
  }

  Axes axes() const { return axes_; }

 private:
  static constexpr int kDeepest = 12;

  // What is in a container: how its items came in says how many they are.
  void Items(ValueId id, int depth) {
    if (!id || depth > kDeepest || values_[id].axes.empty()) return;
    const Value& value = values_[id];
    if ((value.flags & variation::kCounted) != 0) return Counted(id, depth + 1);
    if (value.kind == ValueKind::Select) Decider(values_.ArmsOf(id).condition);
    const bool is_container = value.kind == ValueKind::Select || (value.kind == ValueKind::Derived && values_.IsStructural(value.symbol()));
    if (!is_container) return;
    for (const ValueId kid : values_.Kids(id)) Items(kid, depth + 1);
  }

  void Counted(ValueId id, int depth) {
    Axes of_kids;
    for (const ValueId kid : values_.Kids(id)) {
      if (!kid) continue;
      of_kids = of_kids | values_.axes(kid);
      const bool is_count = (values_[kid].flags & variation::kCounted) != 0;
      if (is_count && depth <= kDeepest) Counted(kid, depth + 1);
      else Decider(kid);
    }
    axes_ = axes_ | Without(values_.axes(id), of_kids);
  }

  // A condition or a number of rounds.
  void Decider(ValueId id) {
    const Axes axes = values_.axes(id);
    if (axes.empty() || IsSameOnAllRanks(values_, knowledge_, world_, id)) return;
    axes_ = axes_ | axes;
  }

  const variation::ValueStore& values_;
  const knowledge::Knowledge& knowledge_;
  const World& world_;
  Axes axes_;
};

}  // namespace

Axes OwnCountAxes(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, const World& world,
                  ValueId count) {
  CountWalk walk(values, knowledge, world);
  walk.Number(count, 0);
  return walk.axes();
}

bool IsSameOnAllRanks(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, const World& world,
                      ValueId value) {
  return IsSame(values, knowledge, world, value, 0);
}

}  // namespace allranks::traces
