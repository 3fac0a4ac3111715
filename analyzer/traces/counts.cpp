#include "analyzer/traces/counts.h"

namespace allranks::traces {
namespace {

using knowledge::Axes;
using variation::Value;
using variation::ValueKind;

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
        else if (values_.IsLength(value.a)) Items(kids[0], depth + 1);
        break;
      default:
        break;
    }
  }

  Axes axes() const { return axes_; }

 private:
  static constexpr int kDeepest = 12;
  // Of all unknowns in a formula: something that two and three ranks do not share alike.
  static constexpr int64_t kSome = 7;

  // What is in a container: how its items came in says how many they are.
  void Items(ValueId id, int depth) {
    if (!id || depth > kDeepest || values_[id].axes.empty()) return;
    const Value& value = values_[id];
    if ((value.flags & variation::kCounted) != 0) return Counted(id, depth + 1);
    if (value.kind == ValueKind::Select) Decider(values_.Kids(id)[0]);
    const bool is_container = value.kind == ValueKind::Select || (value.kind == ValueKind::Derived && values_.IsStructural(value.a));
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
    if (axes.empty() || IsSameEverywhere(id)) return;
    axes_ = axes_ | axes;
  }

  bool IsSameEverywhere(ValueId id) const {
    Assignment assignment;
    std::vector<ValueId> parts;
    Evaluator(values_, knowledge_, world_, assignment).UnknownParts(id, &parts);
    for (const ValueId part : parts) {
      if (values_.axes(part).empty()) assignment.emplace(part.index, kSome);
    }
    Evaluator evaluator(values_, knowledge_, world_, assignment);
    const Outcome first = evaluator.Evaluate(id, 0);
    if (first.kind != OutcomeKind::Number) return false;
    for (uint32_t rank = 1; rank < world_.size(); ++rank) {
      const Outcome other = evaluator.Evaluate(id, rank);
      if (other.kind != first.kind || other.number != first.number) return false;
    }
    return true;
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

}  // namespace allranks::traces
