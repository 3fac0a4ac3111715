// Abstract values made concrete on one rank of a world: ordinary evaluation, with "unknown" where a part is not known.
//
// A group evaluates to the set of ranks that the caller shares it with. Where the members are not known the group is
// marked as a guess, and whoever compares must say so (FunctionCheck::AssumeGroup).
// Unsound: a list of ranks that is not known stands for the even ranks, the smallest strict subset that is not one rank. Who
// rests on one says so (FunctionCheck::IsGuess, HasOpenList of difference.cpp).
#include "analyzer/traces/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "analyzer/traces/conditions.h"
#include "analyzer/variation/comparison.h"
#include "analyzer/variation/tables.h"
#include "analyzer/variation/whole_job.h"

namespace allranks::traces {
namespace {

using variation::GroupKind;
using variation::Value;
using variation::ValueKind;

using knowledge::Axes;

// Deeper than any value that the store keeps: it ends recursion through groups.
constexpr int kDeepestValue = 300;

// What is made of the items of a container, one of each.
constexpr std::string_view kAsLongAsItsFirst[] = {"builtins.list", "builtins.tuple", "builtins.sorted", "builtins.reversed", "builtins.enumerate",
                                                  "items", "keys", "values", "copy", "tolist"};

std::optional<int64_t> Calculate(ir::BinaryOp op, int64_t left, int64_t right) {
  constexpr int64_t kLarge = int64_t{1} << 31;
  if (std::abs(left) > kLarge || std::abs(right) > kLarge) return std::nullopt;
  switch (op) {
    case ir::BinaryOp::Add:
      return left + right;
    case ir::BinaryOp::Sub:
      return left - right;
    case ir::BinaryOp::Mul:
      return left * right;
    case ir::BinaryOp::BitAnd:
      return left & right;
    case ir::BinaryOp::BitOr:
      return left | right;
    case ir::BinaryOp::BitXor:
      return left ^ right;
    case ir::BinaryOp::FloorDiv:
    case ir::BinaryOp::Mod: {
      if (right == 0) return std::nullopt;
      int64_t quotient = left / right;
      if (left % right != 0 && (left < 0) != (right < 0)) --quotient;
      return op == ir::BinaryOp::FloorDiv ? quotient : left - quotient * right;
    }
    default:
      return std::nullopt;
  }
}

Outcome CalculateReal(ir::BinaryOp op, double left, double right) {
  switch (op) {
    case ir::BinaryOp::Add:
      return Outcome::Real(left + right);
    case ir::BinaryOp::Sub:
      return Outcome::Real(left - right);
    case ir::BinaryOp::Mul:
      return Outcome::Real(left * right);
    case ir::BinaryOp::Div:
      return right == 0 ? Outcome{} : Outcome::Real(left / right);
    default:
      return {};
  }
}

std::optional<bool> HasItems(std::optional<int64_t> length) { return length ? std::optional(*length > 0) : std::nullopt; }

// Of a text that is known.
base::NameId TextIn(const Value& value) { return value.kind == ValueKind::Str ? value.name() : base::NameId::None(); }

bool IsText(std::string_view operation) { return operation == "f-string" || operation == "builtins.str"; }

// `0.5` as it is written.
std::optional<Outcome> RealOf(std::string_view text) {
  const std::string written(text);
  char* end = nullptr;
  const double value = std::strtod(written.c_str(), &end);
  const bool is_read = !written.empty() && end == written.c_str() + written.size() && std::isfinite(value);
  return is_read ? std::optional(Outcome::Real(value)) : std::nullopt;
}

}  // namespace

bool IsUniformUnknown(const variation::ValueStore& values, ValueId id) {
  const Value& value = values[id];
  return value.kind == ValueKind::Unknown || value.kind == ValueKind::Derived || value.kind == ValueKind::Param;
}

// `FLAGS.eval_only`, `cfg.TEST.ONLY` of another project: some value or other, which may be false. A function or class is true.
bool Evaluator::IsSettingOfLibrary(ValueId id) const {
  const Value& value = values_[id];
  if (value.kind != ValueKind::External) return false;
  const base::NameId name = value.name();
  return !knowledge_.FindEntry(name) && !knowledge_.FindClass(name) && !knowledge_.names().View(name).starts_with("builtins.");
}

std::optional<bool> Evaluator::TruthOf(const Outcome& outcome) const {
  switch (outcome.kind) {
    case OutcomeKind::Unknown:
      return std::nullopt;
    case OutcomeKind::None:
      return false;
    case OutcomeKind::Number:
      return outcome.is_text || outcome.number != 0;
    case OutcomeKind::Real:
      return outcome.real != 0;
    case OutcomeKind::Thing:
      if (const base::NameId text = TextIn(values_[outcome.thing])) return !knowledge_.names().View(text).empty();
      return IsSettingOfLibrary(outcome.thing) ? std::nullopt : std::optional(true);
  }
  return std::nullopt;
}

Outcome Evaluator::Evaluate(ValueId id, uint32_t rank) {
  if (!id || depth_ > kDeepestValue) return {};
  if (!assignment_.empty()) {
    if (const auto assigned = assignment_.find(id.index); assigned != assignment_.end()) {
      return Outcome::Number(assigned->second);
    }
  }
  if (values_[id].kid_count == 0) return EvaluateNew(id, rank);
  const uint64_t key = uint64_t{id.index} * kMostRanks + rank;
  if (const Outcome* known = found_.outcomes.Find(key)) return *known;
  ++depth_;
  const Outcome result = EvaluateNew(id, rank);
  --depth_;
  found_.outcomes.Add(key, result);
  return result;
}

// Where `mode == "train"` was assigned to hold, `mode` is that. None of what nothing was assigned of.
ValueId Evaluator::EqualTo(ValueId id) {
  if (!equal_to_) {
    equal_to_.emplace();
    for (const auto& [condition, number] : assignment_) {
      if (const auto equality = EqualityOf(values_, ValueId{condition}, number != 0)) equal_to_->emplace(equality->subject.index, equality->constant);
    }
  }
  const auto known = equal_to_->find(id.index);
  return known == equal_to_->end() ? ValueId() : known->second;
}

Outcome Evaluator::EvaluateNew(ValueId id, uint32_t rank) {
  const Value& value = values_[id];
  const Outcome thing = {OutcomeKind::Thing, 0, id};
  switch (value.kind) {
    case ValueKind::None:
      return {OutcomeKind::None, 0, {}};
    case ValueKind::Bool:
    case ValueKind::Int:
      return Outcome::Number(*value.integer());
    case ValueKind::Float:
      return RealOf(knowledge_.names().View(value.name())).value_or(thing);
    case ValueKind::Str:
    case ValueKind::External:
    case ValueKind::Module:
    case ValueKind::Function:
    case ValueKind::Class:
    case ValueKind::Instance:
    case ValueKind::Object:
      return thing;
    case ValueKind::Group:
      return groups_[Group(id, rank)].members[rank].empty() ? Outcome{OutcomeKind::None, 0, {}} : thing;
    case ValueKind::Coordinate: {
      Outcome number = Coordinate(id, rank);
      number.is_text = variation::IsText(value);
      return number;
    }
    case ValueKind::Unary: {
      if (value.unary_op() == ir::UnaryOp::Not) {
        const std::optional<bool> truth = TruthOfPart(values_.OperandOf(id), rank);
        return truth ? Outcome::Number(*truth ? 0 : 1) : Outcome{};
      }
      const Outcome inner = Evaluate(values_.OperandOf(id), rank);
      if (inner.kind == OutcomeKind::Real && value.unary_op() == ir::UnaryOp::Minus) return Outcome::Real(-inner.real);
      const bool negates = inner.kind == OutcomeKind::Number && value.unary_op() == ir::UnaryOp::Minus;
      return negates ? Outcome::Number(-inner.number) : Outcome{};
    }
    case ValueKind::Binary:
      return Binary(id, rank);
    case ValueKind::Compare:
      return Compare(id, rank);
    case ValueKind::And:
    case ValueKind::Or:
      return Connective(id, rank);
    case ValueKind::Select: {
      const std::optional<bool> truth = TruthOfPart(values_.ArmsOf(id).condition, rank);
      return truth ? Evaluate(values_.Kids(id)[*truth ? 1 : 2], rank) : Outcome{};
    }
    case ValueKind::Derived:
      if (value.is_derived(variation::DerivedKind::Field)) return Evaluate(values_.FieldOf(id).usual, rank);
      if (const Outcome result = Call(id, rank); result.kind != OutcomeKind::Unknown) return result;
      [[fallthrough]];
    case ValueKind::Unknown:
    case ValueKind::Param:
      if (const ValueId constant = EqualTo(id)) return EvaluateNew(constant, rank);
      return {};
    default:
      return {};
  }
}

// One operand that decides is enough, whatever the others are.
Outcome Evaluator::Connective(ValueId id, uint32_t rank) {
  const bool is_and = values_[id].kind == ValueKind::And;
  bool unknown = false;
  for (const ValueId kid : values_.Kids(id)) {
    const std::optional<bool> truth = TruthOfPart(kid, rank);
    if (truth && *truth != is_and) return Outcome::Number(is_and ? 0 : 1);
    unknown = unknown || !truth;
  }
  return unknown ? Outcome{} : Outcome::Number(is_and ? 1 : 0);
}

std::optional<bool> Evaluator::Truth(ValueId value, uint32_t rank) { return TruthOfPart(value, rank); }

// A container is true if there is something in it.
std::optional<bool> Evaluator::TruthOfPart(ValueId id, uint32_t rank) {
  const std::optional<bool> truth = TruthOf(Evaluate(id, rank));
  if (truth || !id) return truth;
  const ValueKind kind = values_[id].kind;
  if (kind == ValueKind::Tuple) return values_[id].kid_count > 0;
  if (kind == ValueKind::Binary) return HasItems(LengthOf(id, rank));
  if (kind != ValueKind::Derived) return std::nullopt;
  if (IsText(OperationOf(id))) {
    // `f"rank{rank}"`: a part of it is never empty.
    const std::vector<ValueId> parts(values_.Kids(id).begin(), values_.Kids(id).end());
    const bool has_some = std::ranges::any_of(parts, [&](ValueId part) {
      const Outcome printed = Evaluate(part, rank);
      const bool is_text = printed.kind == OutcomeKind::Thing && values_[printed.thing].kind == ValueKind::Str;
      return printed.is_numeric() || (is_text && TruthOf(printed).value_or(false));
    });
    return has_some ? std::optional(true) : std::nullopt;
  }
  return HasItems(LengthOf(id, rank));
}

Outcome Evaluator::Coordinate(ValueId id, uint32_t rank) {
  using knowledge::Coordinate;
  const Value& value = values_[id];
  const auto axis = value.axis();
  const auto members = [&] {
    const GroupIndex index = Group(value.kid_count > 0 ? values_.Kids(id)[0] : ValueId::None(), rank);
    return groups_[index].members[rank];
  };
  switch (value.coordinate()) {
    case Coordinate::Rank:
      return Outcome::Number(rank);
    case Coordinate::LocalRank:
      return Outcome::Number(world_.LocalRank(rank));
    case Coordinate::NodeRank:
      return Outcome::Number(world_.NodeRank(rank));
    case Coordinate::AxisRank:
      return Outcome::Number(world_.AxisRank(axis, rank));
    case Coordinate::AxisSize:
      return Outcome::Number(world_.AxisSize(axis) * size_factor_);
    case Coordinate::WorldSize:
      return Outcome::Number(world_.size() * size_factor_);
    case Coordinate::LocalWorldSize:
      return Outcome::Number(world_.per_node * size_factor_);
    case Coordinate::NodeCount:
      return Outcome::Number(world_.nodes * size_factor_);
    case Coordinate::GroupRank: {
      const RankSet set = members();
      if (!set.has(rank)) return Outcome::Number(-1);
      return Outcome::Number((set & RankSet::All(rank)).count());
    }
    case Coordinate::GroupSize:
      return Outcome::Number(members().count() * size_factor_);
    case Coordinate::Distributed:
      // Ranks wait for each other only after the job was set up. Whoever sets it up asks a value of its own (made_once.h).
      return world_.size() > 1 ? Outcome::Number(1) : Outcome{};
  }
  return {};
}

Outcome Evaluator::Binary(ValueId id, uint32_t rank) {
  const auto op = values_[id].binary_op();
  const Outcome left = Evaluate(values_.OperandsOf(id).left, rank);
  const Outcome right = Evaluate(values_.OperandsOf(id).right, rank);
  if (!left.is_numeric() || !right.is_numeric()) return {};
  const bool is_whole = left.kind == OutcomeKind::Number && right.kind == OutcomeKind::Number;
  if (!is_whole || op == ir::BinaryOp::Div) return CalculateReal(op, left.real, right.real);
  const std::optional<int64_t> result = Calculate(op, left.number, right.number);
  return result ? Outcome::Number(*result) : Outcome{};
}

// What is made of numbers that are all known.
Outcome Evaluator::Call(ValueId id, uint32_t rank) {
  const std::vector<ValueId> kids(values_.Kids(id).begin(), values_.Kids(id).end());
  if (kids.empty()) return {};
  const std::string_view operation = OperationOf(id);
  constexpr std::string_view kOfOneNumber[] = {"torch.tensor", "torch.as_tensor", "item", "builtins.float"};
  if (std::ranges::count(kOfOneNumber, operation) > 0) {
    const Outcome number = Evaluate(kids[0], rank);
    const bool keeps = std::ranges::none_of(std::span(kids).subspan(1), [](ValueId option) { return option.has_value(); });
    return number.is_numeric() && keeps ? number : Outcome{};
  }
  if (kids.size() == 1) return (values_[id].flags & variation::kCounted) == 0 ? OfList(operation, kids[0], rank) : Outcome{};
  std::optional<int64_t> number;
  if (operation == "builtins.min" || operation == "builtins.max") number = Extreme(kids, operation == "builtins.min", rank);
  if (operation == "[]") number = ItemOf(kids[0], kids[1], rank);
  if (operation == "index" && kids.size() == 2) number = PlaceOf(kids[0], kids[1], rank);
  return number ? Outcome::Number(*number) : Outcome{};
}

// What a function makes of a list whose numbers are all known.
Outcome Evaluator::OfList(std::string_view operation, ValueId list, uint32_t rank) {
  constexpr std::string_view kOfNumbers[] = {"builtins.min", "builtins.max", "builtins.sum", "builtins.any",
                                             "builtins.all", "builtins.len", variation::kRounds};
  if (std::ranges::count(kOfNumbers, operation) == 0) return {};
  const bool is_length = operation == "builtins.len" || operation == variation::kRounds;
  if (is_length) {
    const std::optional<int64_t> length = LengthOf(list, rank);
    return length ? Outcome::Number(*length) : Outcome{};
  }
  const std::optional<std::vector<int64_t>> numbers = ListOf(list, rank);
  if (!numbers) return {};
  const auto is_true = [](int64_t number) { return number != 0; };
  if (operation == "builtins.any") return Outcome::Number(std::ranges::any_of(*numbers, is_true) ? 1 : 0);
  if (operation == "builtins.all") return Outcome::Number(std::ranges::all_of(*numbers, is_true) ? 1 : 0);
  if (operation == "builtins.sum") return Outcome::Number(std::accumulate(numbers->begin(), numbers->end(), int64_t{0}));
  if (numbers->empty()) return {};
  return Outcome::Number(operation == "builtins.min" ? std::ranges::min(*numbers) : std::ranges::max(*numbers));
}

std::optional<int64_t> Evaluator::Extreme(std::span<const ValueId> numbers, bool is_least, uint32_t rank) {
  std::optional<int64_t> result;
  for (const ValueId each : numbers) {
    const Outcome number = Evaluate(each, rank);
    if (number.kind != OutcomeKind::Number) return std::nullopt;
    result = !result ? number.number : is_least ? std::min(*result, number.number) : std::max(*result, number.number);
  }
  return result;
}

std::optional<int64_t> Evaluator::ItemOf(ValueId list, ValueId place, uint32_t rank) {
  const Outcome at = Evaluate(place, rank);
  if (at.kind != OutcomeKind::Number) return std::nullopt;
  const std::optional<std::vector<int64_t>> numbers = ListOf(list, rank);
  const auto count = numbers ? static_cast<int64_t>(numbers->size()) : 0;
  if (at.number >= count || at.number < -count) return std::nullopt;
  return (*numbers)[static_cast<size_t>(at.number < 0 ? at.number + count : at.number)];
}

std::optional<int64_t> Evaluator::PlaceOf(ValueId list, ValueId item, uint32_t rank) {
  const Outcome wanted = Evaluate(item, rank);
  const std::optional<std::vector<int64_t>> numbers = wanted.kind == OutcomeKind::Number ? ListOf(list, rank) : std::nullopt;
  if (!numbers) return std::nullopt;
  const auto found = std::ranges::find(*numbers, wanted.number);
  // Who is not in the list does not get here.
  return found == numbers->end() ? -1 : found - numbers->begin();
}

Outcome Evaluator::Compare(ValueId id, uint32_t rank) {
  const auto op = values_[id].compare_op();
  const auto [left_id, right_id] = values_.OperandsOf(id);
  if (op == ir::CompareOp::In || op == ir::CompareOp::NotIn) {
    const std::optional<bool> inside = Membership(left_id, right_id, rank);
    return inside ? Outcome::Number(*inside == (op == ir::CompareOp::In) ? 1 : 0) : Outcome{};
  }
  const Outcome left = Evaluate(left_id, rank);
  const Outcome right = Evaluate(right_id, rank);
  if (left.kind == OutcomeKind::Unknown || right.kind == OutcomeKind::Unknown) return {};
  if (left.kind == OutcomeKind::Number && right.kind == OutcomeKind::Number) {
    const std::optional<bool> result = variation::CompareNumbers(op, left.number, right.number);
    return result ? Outcome::Number(*result ? 1 : 0) : Outcome{};
  }
  if (left.is_numeric() && right.is_numeric()) {
    const std::optional<bool> result = variation::CompareNumbers(op, left.real, right.real);
    return result ? Outcome::Number(*result ? 1 : 0) : Outcome{};
  }
  const bool positive = op == ir::CompareOp::Eq || op == ir::CompareOp::Is;
  if (!positive && op != ir::CompareOp::NotEq && op != ir::CompareOp::IsNot) return {};
  bool same = left.kind == right.kind;
  if (same && left.kind == OutcomeKind::Thing) {
    if (left.thing != right.thing && !variation::IsConstant(values_[left.thing])) return {};
    same = left.thing == right.thing;
  }
  return Outcome::Number(same == positive ? 1 : 0);
}

std::string_view Evaluator::OperationOf(ValueId derived) const {
  const base::NameId name = values_.OperationOf(values_[derived]);
  return name ? knowledge_.names().View(name) : std::string_view();
}

ValueId Evaluator::SizedLike(ValueId tensor) const {
  if (values_[tensor].kid_count == 0) return {};
  const base::NameId name = values_.OperationOf(values_[tensor]);
  const knowledge::EntryId entry = name ? knowledge_.FindEntry(name) : knowledge::EntryId::None();
  return entry && knowledge_[entry].keeps_size ? values_.Kids(tensor)[0] : ValueId::None();
}

std::optional<std::vector<int64_t>> Evaluator::RangeOf(ValueId range, uint32_t rank) {
  constexpr size_t kMostNumbers = 4096;
  std::vector<int64_t> ends;
  const std::vector<ValueId> kids(values_.Kids(range).begin(), values_.Kids(range).end());
  for (const ValueId kid : kids) {
    const Outcome end = Evaluate(kid, rank);
    if (end.kind != OutcomeKind::Number) return std::nullopt;
    ends.push_back(end.number);
  }
  if (ends.empty() || ends.size() > 3) return std::nullopt;
  if (ends.size() == 1) ends.insert(ends.begin(), 0);
  const int64_t step = ends.size() == 3 ? ends[2] : 1;
  if (step == 0) return std::nullopt;
  std::vector<int64_t> numbers;
  for (int64_t number = ends[0]; step > 0 ? number < ends[1] : number > ends[1]; number += step) {
    if (numbers.size() == kMostNumbers) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

// `ranks[1:]`, as Python cuts; none of `ranks[1]`.
std::optional<std::vector<int64_t>> Evaluator::SliceOf(ValueId item, uint32_t rank) {
  const auto kids = values_.Kids(item);
  const bool is_slice = kids.size() == 2 && kids[1] && values_[kids[1]].kind == ValueKind::Derived && OperationOf(kids[1]) == "[:]";
  if (!is_slice || values_[kids[1]].kid_count != 3) return std::nullopt;
  const std::vector<ValueId> parts(values_.Kids(kids[1]).begin(), values_.Kids(kids[1]).end());
  const std::optional<std::vector<int64_t>> numbers = ListOf(kids[0], rank);
  if (!numbers) return std::nullopt;
  const auto length = static_cast<int64_t>(numbers->size());
  const auto bound = [&](ValueId part, int64_t otherwise) -> std::optional<int64_t> {
    const Outcome given = Evaluate(part, rank);
    if (given.kind == OutcomeKind::None) return otherwise;
    if (given.kind != OutcomeKind::Number) return std::nullopt;
    return std::clamp<int64_t>(given.number < 0 ? given.number + length : given.number, 0, length);
  };
  const Outcome step = Evaluate(parts[2], rank);
  const int64_t stride = step.kind == OutcomeKind::None ? 1 : step.kind == OutcomeKind::Number ? step.number : 0;
  const std::optional<int64_t> begin = bound(parts[0], 0);
  const std::optional<int64_t> end = bound(parts[1], length);
  if (stride < 1 || !begin || !end) return std::nullopt;
  std::vector<int64_t> cut;
  for (int64_t at = *begin; at < *end; at += stride) cut.push_back((*numbers)[static_cast<size_t>(at)]);
  return cut;
}

// `[1 for _ in range(rank)]`
std::optional<std::vector<int64_t>> Evaluator::RepeatedOf(ValueId item, ValueId count, uint32_t rank) {
  constexpr int64_t kMostItems = 4096;
  const Outcome number = Evaluate(item, rank);
  const Outcome rounds = Evaluate(count, rank);
  if (number.kind != OutcomeKind::Number || rounds.kind != OutcomeKind::Number || rounds.number > kMostItems) return std::nullopt;
  return std::vector<int64_t>(static_cast<size_t>(std::max<int64_t>(rounds.number, 0)), number.number);
}

// One round of a comprehension, in which its variable is a number. `assignment` must live as long.
Evaluator Evaluator::WithItem(ValueId variable, int64_t number, Assignment& assignment) const {
  // One inside another takes as many steps as both have numbers.
  constexpr int kDepthOfOne = kDeepestValue / 4;
  assignment = assignment_;
  assignment[variable.index] = number;
  Evaluator inner(values_, knowledge_, world_, assignment);
  inner.depth_ = depth_ + kDepthOfOne;
  inner.size_factor_ = size_factor_;
  return inner;
}

// `[r for r in range(world) if r % 2 == 0]`: the variable takes each number in turn.
std::optional<std::vector<int64_t>> Evaluator::ComprehendedOf(ValueId list, uint32_t rank) {
  const std::vector<ValueId> parts(values_.Kids(list).begin(), values_.Kids(list).end());
  if (values_[list].is_derived(variation::DerivedKind::Each)) return RepeatedOf(parts[0], parts.back(), rank);
  if (parts.size() != variation::kKnownParts) return std::nullopt;
  const std::optional<std::vector<int64_t>> numbers = ListOf(parts[1], rank);
  if (!numbers) return std::nullopt;
  std::vector<int64_t> taken;
  for (const int64_t number : *numbers) {
    Assignment assignment;
    Evaluator inner = WithItem(parts[2], number, assignment);
    const std::optional<bool> is_taken = inner.Truth(parts[3], rank);
    const Outcome item = inner.Evaluate(parts[0], rank);
    if (!is_taken || (*is_taken && item.kind != OutcomeKind::Number)) return std::nullopt;
    if (*is_taken) taken.push_back(item.number);
  }
  return taken;
}

// `x + x` of a list that was made in the same way is looked at once, and a list that doubles again and again is none.
std::optional<std::vector<int64_t>> Evaluator::JoinedOf(ValueId list, uint32_t rank) {
  constexpr size_t kMostNumbers = 4096;
  const uint64_t key = uint64_t{list.index} * kMostRanks + rank;
  if (const auto known = found_.joined.find(key); known != found_.joined.end()) return known->second;
  ++depth_;
  std::optional<std::vector<int64_t>> numbers = ListOf(values_.OperandsOf(list).left, rank);
  const std::optional<std::vector<int64_t>> rest = numbers ? ListOf(values_.OperandsOf(list).right, rank) : std::nullopt;
  --depth_;
  const bool is_known = rest && numbers->size() + rest->size() <= kMostNumbers;
  if (is_known) numbers->insert(numbers->end(), rest->begin(), rest->end());
  return found_.joined[key] = is_known ? numbers : std::nullopt;
}

std::optional<std::vector<int64_t>> Evaluator::ListOf(ValueId list, uint32_t rank) {
  if (!list || depth_ > kDeepestValue) return std::nullopt;
  const Value& value = values_[list];
  if (value.kind == ValueKind::Tuple) {
    std::vector<int64_t> numbers;
    const std::vector<ValueId> kids(values_.Kids(list).begin(), values_.Kids(list).end());
    for (const ValueId kid : kids) {
      const Outcome item = Evaluate(kid, rank);
      if (item.kind != OutcomeKind::Number) return std::nullopt;
      numbers.push_back(item.number);
    }
    return numbers;
  }
  if (value.kind == ValueKind::Binary) return value.binary_op() == ir::BinaryOp::Add ? JoinedOf(list, rank) : CombinedOf(list, rank);
  if (value.kind != ValueKind::Derived || value.kid_count == 0) return std::nullopt;
  const std::string_view operation = OperationOf(list);
  if (operation == "builtins.range") return RangeOf(list, rank);
  if (operation == "[]") return SliceOf(list, rank);
  if (operation == variation::kComprehended) return ComprehendedOf(list, rank);
  for (const std::string_view copy : {"builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "builtins.sorted"}) {
    if (operation != copy || value.kid_count != 1) continue;
    ++depth_;
    std::optional<std::vector<int64_t>> numbers = ListOf(values_.Kids(list)[0], rank);
    --depth_;
    if (!numbers || operation == "builtins.list" || operation == "builtins.tuple") return numbers;
    std::ranges::sort(*numbers);
    if (operation != "builtins.sorted") numbers->erase(std::unique(numbers->begin(), numbers->end()), numbers->end());
    return numbers;
  }
  return std::nullopt;
}

// `set(range(world)) - {0}`, `a & b`, `a | b`, in the order of the numbers.
std::optional<std::vector<int64_t>> Evaluator::CombinedOf(ValueId sets, uint32_t rank) {
  const auto op = values_[sets].binary_op();
  if (op != ir::BinaryOp::Sub && op != ir::BinaryOp::BitAnd && op != ir::BinaryOp::BitOr) return std::nullopt;
  const auto operands = values_.OperandsOf(sets);
  ++depth_;
  std::optional<std::vector<int64_t>> left = ListOf(operands.left, rank);
  std::optional<std::vector<int64_t>> right = left ? ListOf(operands.right, rank) : std::nullopt;
  --depth_;
  if (!right) return std::nullopt;
  for (std::vector<int64_t>* numbers : {&*left, &*right}) {
    std::ranges::sort(*numbers);
    numbers->erase(std::unique(numbers->begin(), numbers->end()), numbers->end());
  }
  std::vector<int64_t> result;
  if (op == ir::BinaryOp::Sub) std::ranges::set_difference(*left, *right, std::back_inserter(result));
  if (op == ir::BinaryOp::BitAnd) std::ranges::set_intersection(*left, *right, std::back_inserter(result));
  if (op == ir::BinaryOp::BitOr) std::ranges::set_union(*left, *right, std::back_inserter(result));
  return result;
}

// How many rounds of a comprehension over one list make an item.
std::optional<int64_t> Evaluator::RoundsTaken(std::span<const ValueId> parts, uint32_t rank) {
  if (parts[3] == values_.True()) return LengthOf(parts[1], rank);
  const std::optional<std::vector<int64_t>> numbers = ListOf(parts[1], rank);
  if (!numbers) return std::nullopt;
  int64_t taken = 0;
  for (const int64_t number : *numbers) {
    Assignment assignment;
    Evaluator inner = WithItem(parts[2], number, assignment);
    const std::optional<bool> is_taken = inner.Truth(parts[3], rank);
    if (!is_taken) return std::nullopt;
    taken += *is_taken ? 1 : 0;
  }
  return taken;
}

std::optional<int64_t> Evaluator::LengthOf(ValueId container, uint32_t rank) {
  if (!container || depth_ > kDeepestValue) return std::nullopt;
  const Value& value = values_[container];
  const std::vector<ValueId> kids(values_.Kids(container).begin(), values_.Kids(container).end());
  if (value.kind == ValueKind::Tuple && !value.is_set()) return static_cast<int64_t>(kids.size());
  if (value.kind == ValueKind::Tuple || value.kind == ValueKind::Binary) {
    const std::optional<std::vector<int64_t>> numbers = ListOf(container, rank);
    return numbers ? std::optional(static_cast<int64_t>(numbers->size())) : std::nullopt;
  }
  if (value.kind != ValueKind::Derived || kids.empty() || (value.flags & variation::kCounted) != 0) return std::nullopt;
  const std::string_view operation = OperationOf(container);
  ++depth_;
  std::optional<int64_t> length;
  if (operation == variation::kComprehended && !value.is_derived(variation::DerivedKind::Each) && kids.size() == variation::kKnownParts) {
    length = RoundsTaken(kids, rank);
  } else if (operation == variation::kRefilled || (kids.size() == 1 && std::ranges::count(kAsLongAsItsFirst, operation) > 0)) {
    length = LengthOf(kids[0], rank);
  } else if (const std::optional<std::vector<int64_t>> numbers = ListOf(container, rank)) {
    length = static_cast<int64_t>(numbers->size());
  }
  --depth_;
  return length;
}

std::optional<bool> Evaluator::Membership(ValueId item, ValueId container, uint32_t rank) {
  const Value& value = values_[container];
  const Outcome left = Evaluate(item, rank);
  if ((value.kind == ValueKind::Derived || value.kind == ValueKind::Binary) && left.kind == OutcomeKind::Number) {
    const std::optional<std::vector<int64_t>> list = ListOf(container, rank);
    if (list) return std::ranges::count(*list, left.number) > 0;
  }
  if (value.kind == ValueKind::Tuple) {
    bool unknown = left.kind == OutcomeKind::Unknown;
    bool inside = false;
    const std::vector<ValueId> kids(values_.Kids(container).begin(), values_.Kids(container).end());
    for (const ValueId kid : kids) {
      const Outcome other = Evaluate(kid, rank);
      if (other.kind == OutcomeKind::Unknown) unknown = true;
      else inside = inside || (other.kind == left.kind && other.number == left.number && other.thing == left.thing);
    }
    if (!unknown) return inside;
    const bool is_list_of_ranks = left.kind == OutcomeKind::Number && value.axes.empty();
    return is_list_of_ranks ? IsInUnknownList(item, left.number) : inside ? std::optional<bool>(true) : std::nullopt;
  }
  if (left.kind != OutcomeKind::Number || !IsUniformUnknown(values_, container) || !value.axes.empty()) {
    return std::nullopt;
  }
  if (const ValueId group = GroupListed(container)) {
    return left.number >= 0 && left.number < world_.size() &&
           groups_[Group(group, rank)].members[rank].has(static_cast<uint32_t>(left.number));
  }
  return IsInUnknownList(item, left.number);
}

// A list of ranks that nobody knows: a strict subset of at least two, the even ones. Groups made of it agree.
std::optional<bool> Evaluator::IsInUnknownList(ValueId item, int64_t number) const {
  const bool is_rank = !values_.axes(item).empty();
  return is_rank ? std::optional<bool>(number % 2 == 0) : std::nullopt;
}

// `get_process_group_ranks(group)`: the group whose ranks a list holds; none if it is another list.
ValueId Evaluator::GroupListed(ValueId container) const {
  const Value& value = values_[container];
  if (value.kind != ValueKind::Derived || value.kid_count != 1) return ValueId::None();
  const ValueId group = values_.Kids(container)[0];
  const bool is_used_as_group = std::ranges::any_of(groups_, [&](const GroupInfo& info) { return info.value == group; });
  return group && (is_used_as_group || values_[group].kind == ValueKind::Group) ? group : ValueId::None();
}

GroupIndex Evaluator::Group(ValueId id, uint32_t rank) {
  if (!id || id == values_.NoneValue()) return AddGroup(ValueId::None());
  const Value& value = values_[id];
  if (value.kind == ValueKind::Group) {
    const auto kind = value.group_kind();
    if (kind == GroupKind::Unknown) return GuessedGroup(id);
    return AddGroup(kind == GroupKind::World && value.symbol() == 0 ? ValueId::None() : id);
  }
  // Whichever of them a setting chooses: all ranks are in it.
  if (IsOfAllRanks(values_, id)) return AddGroup(id);
  if (value.kind == ValueKind::Select || value.kind == ValueKind::Derived) {
    if (const std::optional<GroupIndex> family = FamilyGroup(id, rank)) return *family;
  }
  if (value.kind == ValueKind::Select && depth_ < kDeepestValue) {
    const auto [condition, then_value, else_value] = values_.ArmsOf(id);
    const ValueId arms[] = {then_value, else_value};
    const auto is_none = [&](ValueId arm) { return values_[arm].kind == ValueKind::None; };
    // `mine = new_group(ranks)` where the rank is in `ranks`: every rank ends with one of several groups.
    if (is_none(arms[0]) != is_none(arms[1])) return GuessedGroup(is_none(arms[0]) ? arms[1] : arms[0]);
    ++depth_;
    const std::optional<bool> truth = Truth(condition, rank);
    const GroupIndex index = truth ? Group(arms[*truth ? 0 : 1], rank) : GuessedGroup(id);
    --depth_;
    return index;
  }
  return GuessedGroup(id);
}

GroupIndex Evaluator::GuessedGroup(ValueId value) {
  for (GroupIndex i = 0; i < groups_.size(); ++i) {
    if (groups_[i].value == value && groups_[i].is_guess) return i;
  }
  if (groups_.size() == kMostGroups) return kMostGroups - 1;
  GroupInfo info{.value = value, .kind = GroupKind::Unknown, .axis = {}, .members = {}, .is_guess = true};
  info.members.assign(world_.size(), RankSet::All(world_.size()));
  groups_.push_back(std::move(info));
  return static_cast<GroupIndex>(groups_.size() - 1);
}

GroupIndex Evaluator::AddGroup(ValueId value) {
  for (GroupIndex i = 0; i < groups_.size(); ++i) {
    if (groups_[i].value == value && !groups_[i].is_guess) return i;
  }
  if (groups_.size() == kMostGroups) return kMostGroups - 1;
  GroupInfo info{.value = value, .kind = GroupKind::World, .axis = {}, .members = {}, .is_guess = false};
  info.members.assign(world_.size(), RankSet::All(world_.size()));
  if (value && values_[value].is_group(GroupKind::Split)) {
    SplitMembers(value, &info);
  } else if (IsOfAllRanks(values_, value)) {
    if (value) info.kind = GroupKind::Created;
    info.has_known_ranks = static_cast<bool>(value);
  } else {
    const Value& group = values_[value];
    info.kind = group.group_kind();
    if (info.kind == GroupKind::AxisGroup) info.axis = group.axis();
    for (uint32_t rank = 0; rank < world_.size(); ++rank) {
      if (info.kind == GroupKind::AxisGroup) info.members[rank] = world_.AxisPeers(info.axis, rank);
      if (info.kind == GroupKind::Self) info.members[rank] = RankSet::Of(rank);
      if (info.kind != GroupKind::Created) continue;
      const RankSet members = CreatedMembers(value, &info.has_known_ranks);
      info.members[rank] = members.has(rank) ? members : RankSet{};
    }
  }
  groups_.push_back(std::move(info));
  return static_cast<GroupIndex>(groups_.size() - 1);
}

// Ranks of one group that name the same color, none of them negative (MPI_UNDEFINED: not a member of any).
void Evaluator::SplitMembers(ValueId group, GroupInfo* info) {
  info->kind = GroupKind::Split;
  const auto [parent, color] = values_.SplitOf(group);
  std::vector<std::optional<int64_t>> colors;
  info->has_known_ranks = true;
  ++depth_;
  for (uint32_t rank = 0; rank < world_.size(); ++rank) {
    const Outcome outcome = Evaluate(color, rank);
    const bool is_known = outcome.kind == OutcomeKind::Number;
    // A setting that all ranks share leaves the group as it was; of others nothing is known but that they part it.
    const bool is_shared = !is_known && values_.axes(color).empty();
    info->has_known_ranks = info->has_known_ranks && (is_known || is_shared);
    colors.push_back(is_known ? outcome.number : is_shared ? 0 : rank % 2);
  }
  for (uint32_t rank = 0; rank < world_.size(); ++rank) {
    const RankSet around = groups_[Group(parent, rank)].members[rank];
    info->members[rank] = {};
    for (uint32_t other = 0; other < world_.size() && *colors[rank] >= 0; ++other) {
      if (around.has(other) && colors[other] == colors[rank]) info->members[rank] = info->members[rank] | RankSet::Of(other);
    }
  }
  --depth_;
}

RankSet Evaluator::CreatedMembers(ValueId group, bool* known) {
  RankSet members;
  const auto kids = values_.Kids(group);
  ValueId list = kids.empty() ? ValueId() : kids[0];
  const bool is_rest = list && values_[list].kind == ValueKind::Unary;
  if (is_rest) list = values_.OperandOf(list);
  const bool is_shared = list && values_.axes(list).empty();
  const std::optional<std::vector<int64_t>> ranks = is_shared ? ListOf(list, 0) : std::nullopt;
  *known = ranks.has_value();
  for (const int64_t rank : ranks.value_or(std::vector<int64_t>())) {
    if (rank >= 0 && rank < world_.size()) members = members | RankSet::Of(static_cast<uint32_t>(rank));
  }
  if (is_rest) members = RankSet::All(world_.size()).Without(members);
  if (*known && !members.empty()) return members;
  *known = false;
  members = {};
  for (uint32_t rank = 0; rank < world_.size(); rank += 2) members = members | RankSet::Of(rank);
  return members;
}

// Whether a value came out of a collective, which made it the same on all ranks.
bool Evaluator::IsReceived(ValueId id, int depth) const {
  constexpr int kDeepest = 4;
  if (!id || depth > kDeepest || !values_.axes(id).empty()) return false;
  const Value& value = values_[id];
  if ((value.flags & variation::kReduced) != 0) return true;
  return value.kind == ValueKind::Derived && value.kid_count > 0 && IsReceived(values_.Kids(id)[0], depth + 1);
}

// The parts of a value that are asked whether they are true, and for nothing else.
std::span<const ValueId> Evaluator::AskedForTruth(ValueId id) const {
  switch (values_[id].kind) {
    case ValueKind::And:
    case ValueKind::Or:
      return values_.Kids(id);
    case ValueKind::Unary:
      return values_[id].unary_op() == ir::UnaryOp::Not ? values_.Kids(id) : std::span<const ValueId>();
    case ValueKind::Select:
      return values_.Kids(id).first(1);
    default:
      return {};
  }
}

void Evaluator::AddPart(ValueId id, std::vector<ValueId>* parts) const {
  if (!assignment_.contains(id.index) && std::ranges::find(*parts, id) == parts->end()) parts->push_back(id);
}

void Evaluator::UnknownParts(ValueId id, std::vector<ValueId>* parts, int depth) {
  constexpr int kDeepest = 12;
  constexpr size_t kMost = 5;
  if (!id || depth > kDeepest || parts->size() >= kMost) return;
  if (Evaluate(id, 0).kind != OutcomeKind::Unknown && values_.axes(id).empty()) return;
  const Value& value = values_[id];
  const auto add = [&] { AddPart(id, parts); };
  for (const ValueId asked : AskedForTruth(id)) {
    if (IsSettingOfLibrary(asked)) AddPart(asked, parts);
  }
  switch (value.kind) {
    case ValueKind::Unary:
    case ValueKind::Binary:
    case ValueKind::And:
    case ValueKind::Or:
      break;
    case ValueKind::Select:
      // The root has it, the others received it: one value, whichever arm a rank came by.
      if (IsReceived(values_.ArmsOf(id).then_value) && IsReceived(values_.ArmsOf(id).else_value)) return add();
      break;
    case ValueKind::Compare: {
      const auto op = value.compare_op();
      const bool ordered = op == ir::CompareOp::In || op == ir::CompareOp::NotIn;
      const ValueId right = values_.OperandsOf(id).right;
      const bool with_thing = variation::IsConstant(values_[right]) && values_[right].kind != ValueKind::Int;
      // Without a coordinate inside, the comparison as a whole is the unknown.
      if (ordered || with_thing || Without(value.axes, knowledge::kSoftAxes).empty()) {
        bool undecided = false;
        for (uint32_t rank = 0; rank < world_.size(); ++rank) {
          undecided = undecided || Evaluate(id, rank).kind == OutcomeKind::Unknown;
        }
        const bool has_rank = !Without(values_.axes(values_.OperandsOf(id).left), knowledge::kSoftAxes).empty();
        if (undecided && !has_rank) add();
        if (!has_rank) return;
      }
      break;
    }
    case ValueKind::Coordinate:
      if (value.axes.empty()) add();
      return;
    case ValueKind::Unknown:
    case ValueKind::Derived:
    case ValueKind::Param:
      // What varies with the rank in a way that is not known cannot be the same on all ranks.
      if (Without(value.axes, knowledge::kSoftAxes).empty()) add();
      return;
    default:
      return;
  }
  const std::vector<ValueId> kids(values_.Kids(id).begin(), values_.Kids(id).end());
  for (const ValueId kid : kids) UnknownParts(kid, parts, depth + 1);
}

}  // namespace allranks::traces
