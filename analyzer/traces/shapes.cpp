#include "analyzer/traces/shapes.h"

#include <algorithm>

namespace allranks::traces {
namespace {

using variation::ValueKind;
using variation::ValueStore;

constexpr int kDeepestTensor = 6;

// The arm of a choice that a rank takes.
std::optional<ValueId> ArmOf(Evaluator& evaluator, ValueId choice, uint32_t rank) {
  const auto kids = evaluator.values().Kids(choice);
  const ValueId arms[] = {kids[2], kids[1]};
  const std::optional<bool> truth = evaluator.Truth(kids[0], rank);
  if (!truth) return std::nullopt;
  return arms[*truth ? 1 : 0];
}

// `(2, 3)` in `torch.zeros((2, 3))`, and numbers one by one.
std::optional<int64_t> Product(Evaluator& evaluator, ValueId sizes, uint32_t rank, int depth) {
  if (!sizes || depth > kDeepestTensor) return std::nullopt;
  const ValueStore& values = evaluator.values();
  if (values[sizes].kind != ValueKind::Tuple) {
    const Outcome size = evaluator.Evaluate(sizes, rank);
    return size.kind == OutcomeKind::Number ? std::optional<int64_t>(size.number) : std::nullopt;
  }
  constexpr int64_t kMostElements = int64_t{1} << 40;
  int64_t product = 1;
  for (const ValueId size : std::vector<ValueId>(values.Kids(sizes).begin(), values.Kids(sizes).end())) {
    const std::optional<int64_t> factor = Product(evaluator, size, rank, depth + 1);
    if (!factor || *factor < 0 || (*factor > 0 && product > kMostElements / *factor)) return std::nullopt;
    product *= *factor;
  }
  return product;
}

std::optional<int64_t> Elements(Evaluator& evaluator, ValueId tensor, uint32_t rank, int depth);

// Whether an item is one number whatever it comes to: `rank == 0 and exists(path)`.
bool IsTest(const ValueStore& values, ValueId item, int depth) {
  if (!item || depth > kDeepestTensor) return false;
  const variation::Value& value = values[item];
  if (value.kind == ValueKind::And || value.kind == ValueKind::Or) {
    return std::ranges::any_of(values.Kids(item), [&](ValueId kid) { return IsTest(values, kid, depth + 1); });
  }
  const bool is_not = value.is_not();
  return is_not || value.kind == ValueKind::Compare || value.kind == ValueKind::Bool;
}

// Of `[a, b]` each item has as many: the first one that is known says how many.
std::optional<int64_t> ItemsIn(Evaluator& evaluator, ValueId list, uint32_t rank, int depth) {
  const ValueStore& values = evaluator.values();
  const std::vector<ValueId> items(values.Kids(list).begin(), values.Kids(list).end());
  if (items.empty()) return 0;
  for (const ValueId item : items) {
    const std::optional<int64_t> each = IsTest(values, item, 0) ? 1 : Elements(evaluator, item, rank, depth + 1);
    if (each) return *each * static_cast<int64_t>(items.size());
  }
  return std::nullopt;
}

std::optional<int64_t> Elements(Evaluator& evaluator, ValueId tensor, uint32_t rank, int depth) {
  if (!tensor || depth > kDeepestTensor) return std::nullopt;
  const ValueStore& values = evaluator.values();
  const variation::Value& value = values[tensor];
  switch (value.kind) {
    case ValueKind::Select: {
      const std::optional<ValueId> arm = ArmOf(evaluator, tensor, rank);
      return arm ? Elements(evaluator, *arm, rank, depth + 1) : std::nullopt;
    }
    case ValueKind::Tuple:
      return ItemsIn(evaluator, tensor, rank, depth);
    case ValueKind::Float:
      return 1;
    case ValueKind::Derived:
      if (values.IsNewTensor(tensor)) return Product(evaluator, values.Kids(tensor)[0], rank, depth + 1);
      if (const ValueId like = evaluator.SizedLike(tensor)) return Elements(evaluator, like, rank, depth + 1);
      if (const std::optional<std::vector<int64_t>> list = evaluator.ListOf(tensor, rank)) return static_cast<int64_t>(list->size());
      break;
    default:
      break;
  }
  const bool is_number = evaluator.Evaluate(tensor, rank).kind == OutcomeKind::Number;
  return is_number ? std::optional<int64_t>(1) : std::nullopt;
}

bool MayDiffer(const ValueStore& values, ValueId tensor, int depth) {
  if (!tensor) return false;
  if (depth > kDeepestTensor || !values.axes(tensor).empty()) return true;
  return std::ranges::any_of(values.Kids(tensor), [&](ValueId kid) { return MayDiffer(values, kid, depth + 1); });
}

// The one of several that a rank has; none if that is not known.
ValueId Chosen(Evaluator& evaluator, ValueId choice, uint32_t rank) {
  for (int depth = 0; choice && depth < kDeepestTensor; ++depth) {
    if (evaluator.values()[choice].kind != ValueKind::Select) return choice;
    choice = ArmOf(evaluator, choice, rank).value_or(ValueId::None());
  }
  return {};
}

// `torch.half` is `torch.float16` by another name: of types whose names say how wide they are no two are one.
bool HasWidth(const Evaluator& evaluator, ValueId type) {
  const std::string_view name = evaluator.NameOf(type);
  return !name.empty() && name.back() >= '0' && name.back() <= '9';
}

}  // namespace

std::optional<int64_t> ElementsOf(Evaluator& evaluator, ValueId tensor, uint32_t rank) { return Elements(evaluator, tensor, rank, 0); }

ValueId ElementTypeOf(Evaluator& evaluator, ValueId tensor, uint32_t rank) {
  const ValueStore& values = evaluator.values();
  const ValueId made = Chosen(evaluator, tensor, rank);
  if (!made || !values.IsNewTensor(made)) return {};
  const ValueId type = Chosen(evaluator, values.Kids(made)[1], rank);
  return type && values[type].kind == ValueKind::External && HasWidth(evaluator, type) ? type : ValueId::None();
}

bool MayBeOfSeveralTypes(const ValueStore& values, ValueId tensor) {
  if (values[tensor].kind == ValueKind::Select) return true;
  return values.IsNewTensor(tensor) && MayDiffer(values, values.Kids(tensor)[1], 0);
}

bool MayDifferInSize(const ValueStore& values, ValueId tensor) { return MayDiffer(values, tensor, 0); }

}  // namespace allranks::traces
