// Variables of the environment by which a launcher tells a process who it is, as texts and under keys that a caller
// names.
//
// The value of such a variable is the number it stands for, with the mark that it is a text still (kOfText). As a condition a
// text is true if a launcher set it, whatever it says: `if os.environ.get("RANK"):` is no question to the rank. `int(...)`,
// comparisons and arithmetic take the number: `os.environ["RANK"] == "0"` is the predicate `rank == 0`. What is taken for
// granted: the process runs in a job, so the variable is there, and None and defaults do not happen. Unsound in one direction:
// `get_rank() == "0"`, which Python finds false on every rank, is taken for the test that was meant, and so is
// `os.environ["RANK"] == 0`. A function that is given a text and makes a number of it (`int(parameter)`) keeps the mark.
//
// All of this is part of making a value, so that a key which is an argument is read once a caller says what it is.
#include <algorithm>
#include <charconv>
#include <string>

#include "analyzer/variation/value.h"

namespace allranks::variation {
namespace {

// The number that a text is exactly the decimal text of.
std::optional<int64_t> DecimalOf(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && std::to_string(number) == text ? std::optional(number) : std::nullopt;
}

}  // namespace

// One of several where the key is; some unknown, by its name, where no launcher sets it.
ValueId ValueStore::Environment(ValueId key) {
  const Value& value = values_[key.index];
  if (value.kind == ValueKind::Str) {
    const auto [variable, is_new] = variables_.try_emplace(value.name());
    if (!is_new) return variable->second;
    const uint32_t symbol = NewSymbol();
    if (names_ != nullptr) SetOperation(symbol, names_->Intern("environ:" + std::string(Text(key))));
    return variable->second = Symbol(symbol, {});
  }
  if (value.kind == ValueKind::Select) return OfArms(key, [&](ValueId arm) { return Environment(arm); });
  return Derived(environment_, {&key, 1});
}

void ValueStore::SetVariable(NameId variable, ValueId value) {
  Value text = values_[value.index];
  if (text.kind == ValueKind::Coordinate) {
    text.flags |= kOfText;
    text.b_ = variable.index;
    value = Make(text, {});
  }
  variables_[variable] = value;
}

ValueId ValueStore::NumberOf(ValueId text) {
  Value value = values_[text.index];
  const bool is_open = value.is_derived(environment_) && value.derived_kind() == DerivedKind::Result;
  if (!is_open && (value.flags & kOfText) == 0) return text;
  if (is_open) return Make(value.Of(DerivedKind::Number), Kids(text));
  if (value.kind == ValueKind::Coordinate) {
    value.flags &= static_cast<uint8_t>(~kOfText);
    value.b_ = 0;
    return Make(value, Kids(text));
  }
  return value.kind == ValueKind::Select ? OfArms(text, [&](ValueId arm) { return NumberOf(arm); }) : text;
}

ValueId ValueStore::AsCondition(ValueId id) {
  const Value& value = values_[id.index];
  if ((value.flags & kOfText) == 0) return id;
  if (value.kind == ValueKind::Coordinate) return IsLaunched(value.variable());
  std::vector<ValueId> kids(Kids(id).begin(), Kids(id).end());
  for (ValueId& kid : kids) kid = AsCondition(kid);
  return Rebuild(value, kids);
}

// Whether a launcher set this variable: the same for all of its processes.
ValueId ValueStore::IsLaunched(NameId variable) {
  return Make(Value::IsLaunched(variable), {});
}

// `group != GroupMember.NON_GROUP_MEMBER`, what a rank gets that is not in the list that a group is made of; none of anything else.
ValueId ValueStore::CompareMembership(ir::CompareOp op, ValueId group, ValueId nobody) {
  const bool is_negative = op == ir::CompareOp::NotEq || op == ir::CompareOp::IsNot;
  if (!is_negative && op != ir::CompareOp::Eq && op != ir::CompareOp::Is) return {};
  const Value& made = values_[group.index];
  const bool is_made = made.is_group(GroupKind::Created) && made.kid_count == 1;
  if (!is_made || values_[nobody.index].kind != ValueKind::External || !Text(nobody).ends_with(".GroupMember.NON_GROUP_MEMBER")) return {};
  const ValueId ranks = RanksOf(group);
  if (!ranks || values_[ranks.index].kind == ValueKind::Unary) return {};
  return Compare(is_negative ? ir::CompareOp::In : ir::CompareOp::NotIn, Coordinate(knowledge::Coordinate::Rank), ranks);
}

// A rank or a size compared with texts; none for any other comparison.
ValueId ValueStore::CompareTexts(ir::CompareOp op, ValueId left, ValueId right) {
  if (names_ == nullptr) return {};
  const bool is_membership = op == ir::CompareOp::In || op == ir::CompareOp::NotIn;
  if (is_membership && values_[right.index].kind == ValueKind::External) return IsInEnvironment(op, left, right);
  if (values_[left.index].kind == ValueKind::Str && !is_membership) std::swap(left, right);
  if (const ValueId of_printed = ComparePrinted(op, left, right)) return of_printed;
  if (const ValueId of_group = CompareMembership(op, left, right)) return of_group;
  if (values_[left.index].kind != ValueKind::Coordinate) return {};
  if (is_membership) return IsAmongTexts(op, left, right);
  const bool is_equality = op == ir::CompareOp::Eq || op == ir::CompareOp::NotEq;
  const Value& text = values_[right.index];
  if (text.kind != ValueKind::Str || !text.name() || !is_equality) return {};
  const std::optional<int64_t> number = DecimalOf(Text(right));
  return number ? Compare(op, left, Int(*number)) : Bool(op == ir::CompareOp::NotEq);
}

bool ValueStore::IsWholeNumber(ValueId id) const {
  const Value& value = values_[id.index];
  switch (value.kind) {
    case ValueKind::Int:
      return true;
    case ValueKind::Derived:
      return value.symbol() == length_ && (value.flags & kCounted) == 0;
    case ValueKind::Coordinate:
      return value.coordinate() != knowledge::Coordinate::Distributed;
    case ValueKind::Unary:
      return value.is_unary(ir::UnaryOp::Minus) && IsWholeNumber(OperandOf(id));
    case ValueKind::Binary: {
      constexpr ir::BinaryOp kWhole[] = {ir::BinaryOp::Add, ir::BinaryOp::Sub, ir::BinaryOp::Mul, ir::BinaryOp::FloorDiv, ir::BinaryOp::Mod};
      const bool is_whole = std::ranges::count(kWhole, value.binary_op()) > 0;
      return is_whole && IsWholeNumber(OperandsOf(id).left) && IsWholeNumber(OperandsOf(id).right);
    }
    default:
      return false;
  }
}

bool ValueStore::IsTruth(ValueId id) const {
  const Value& value = values_[id.index];
  const auto kids = Kids(id);
  const auto is_truth = [&](ValueId kid) { return kid && IsTruth(kid); };
  switch (value.kind) {
    case ValueKind::Bool:
    case ValueKind::Compare:
      return true;
    case ValueKind::Unary:
      return value.is_not();
    case ValueKind::And:
    case ValueKind::Or:
      return std::ranges::all_of(kids, is_truth);
    case ValueKind::Select:
      return std::ranges::all_of(kids.subspan(1), is_truth);
    default:
      return false;
  }
}

ValueId ValueStore::PrintedNumber(ValueId number) {
  const Value& value = values_[number.index];
  if (value.kind != ValueKind::Int || names_ == nullptr) return {};
  const int64_t known = *value.integer();
  return Str(names_->Intern(std::to_string(known)));
}

// `str(rank)`, `f"rank {rank}"`, `"rank " + str(rank)`.
std::optional<ValueStore::NumberText> ValueStore::NumberIn(ValueId id) const {
  const Value& value = values_[id.index];
  const auto kids = Kids(id);
  const auto is_text = [&](ValueId part) { return part && values_[part.index].kind == ValueKind::Str && values_[part.index].name().index != 0; };
  const bool is_printed = value.is_derived(text_) && kids.size() == 1;
  if (is_printed && kids[0] && IsWholeNumber(kids[0])) return NumberText{{}, kids[0], {}};
  const bool is_sum = value.is_binary(ir::BinaryOp::Add);
  if (is_sum && is_text(kids[0])) {
    const auto inner = NumberIn(kids[1]);
    return inner && inner->before.empty() ? std::optional(NumberText{Text(kids[0]), inner->number, inner->after}) : std::nullopt;
  }
  if (is_sum && is_text(kids[1])) {
    const auto inner = NumberIn(kids[0]);
    return inner && inner->after.empty() ? std::optional(NumberText{inner->before, inner->number, Text(kids[1])}) : std::nullopt;
  }
  if (!value.is_derived(parts_) || !value.is_derived(DerivedKind::Plain) || kids.size() > 3) return std::nullopt;
  NumberText found;
  for (const ValueId part : kids) {
    if (is_text(part)) (found.number ? found.after : found.before) = Text(part);
    else if (!part || found.number) return std::nullopt;
    else found.number = part;
  }
  if (!found.number) return std::nullopt;
  // `f"rank {str(rank)}"`
  const auto inner = NumberIn(found.number);
  if (inner && inner->before.empty() && inner->after.empty()) found.number = inner->number;
  return IsWholeNumber(found.number) ? std::optional(found) : std::nullopt;
}

// The number for which the text comes out as that one.
std::optional<int64_t> ValueStore::NumberPrinted(const NumberText& in, ValueId text) const {
  const Value& value = values_[text.index];
  if (value.kind != ValueKind::Str || value.name().index == 0) return std::nullopt;
  std::string_view printed = Text(text);
  if (printed.size() < in.before.size() + in.after.size() || !printed.starts_with(in.before) || !printed.ends_with(in.after)) return std::nullopt;
  printed.remove_prefix(in.before.size());
  printed.remove_suffix(in.after.size());
  return DecimalOf(printed);
}

// `str(rank) == "0"`, `f"rank {rank}" in ("rank 0", "rank 1")`: a question to the number; none if nothing is printed here.
ValueId ValueStore::ComparePrinted(ir::CompareOp op, ValueId left, ValueId right) {
  const bool is_membership = op == ir::CompareOp::In || op == ir::CompareOp::NotIn;
  const bool is_equality = op == ir::CompareOp::Eq || op == ir::CompareOp::NotEq;
  if (!is_membership && !is_equality) return {};
  const auto printed = NumberIn(left);
  if (!printed) return {};
  const bool is_positive = op == ir::CompareOp::Eq || op == ir::CompareOp::In;
  const auto is_known = [&](ValueId text) { return text && values_[text.index].kind == ValueKind::Str && values_[text.index].name().index != 0; };
  if (is_equality && !is_known(right)) {
    const auto other = NumberIn(right);
    const bool is_alike = other && other->before == printed->before && other->after == printed->after;
    return is_alike ? Compare(op, printed->number, other->number) : ValueId();
  }
  std::vector<ValueId> texts = {right};
  if (is_membership) {
    if (values_[right.index].kind != ValueKind::Tuple) return {};
    texts.assign(Kids(right).begin(), Kids(right).end());
  }
  if (!std::ranges::all_of(texts, is_known)) return {};
  std::vector<ValueId> numbers;
  for (const ValueId text : texts) {
    if (const std::optional<int64_t> number = NumberPrinted(*printed, text)) numbers.push_back(Int(*number));
  }
  if (numbers.empty()) return Bool(!is_positive);
  if (numbers.size() > 1) return Compare(op, printed->number, Tuple(numbers));
  return Compare(is_positive ? ir::CompareOp::Eq : ir::CompareOp::NotEq, printed->number, numbers[0]);
}

// `os.getenv("RANK") in (None, "0")`
ValueId ValueStore::IsAmongTexts(ir::CompareOp op, ValueId number, ValueId container) {
  if (values_[container.index].kind != ValueKind::Tuple) return {};
  const auto items = Kids(container);
  const auto is_text = [&](ValueId item) { return item && values_[item.index].kind == ValueKind::Str; };
  if (std::ranges::none_of(items, is_text)) return {};
  std::vector<ValueId> numbers;
  for (const ValueId item : items) {
    if (!item || !IsConstant(values_[item.index])) return {};
    if (values_[item.index].kind == ValueKind::Int) numbers.push_back(item);
    if (!is_text(item) || !values_[item.index].name()) continue;
    if (const std::optional<int64_t> decimal = DecimalOf(Text(item))) numbers.push_back(Int(*decimal));
  }
  const bool is_in = op == ir::CompareOp::In;
  if (numbers.empty()) return Bool(!is_in);
  if (numbers.size() > 1) return Compare(op, number, Tuple(numbers));
  return Compare(is_in ? ir::CompareOp::Eq : ir::CompareOp::NotEq, number, numbers[0]);
}

// `"RANK" in os.environ`
ValueId ValueStore::IsInEnvironment(ir::CompareOp op, ValueId key, ValueId container) {
  if (Text(container) != "os.environ") return {};
  const Value value = values_[key.index];
  if (value.kind == ValueKind::Select) return OfArms(key, [&](ValueId arm) { return Compare(op, arm, container); });
  if (value.kind != ValueKind::Str) return {};
  const auto variable = variables_.find(value.name());
  if (variable == variables_.end() || values_[variable->second.index].kind == ValueKind::Unknown) return {};
  const ValueId is_there = IsLaunched(value.name());
  return op == ir::CompareOp::In ? is_there : Not(is_there);
}

}  // namespace allranks::variation
