// Variables of the environment by which a launcher tells a process who it is, as texts and under keys that a caller
// names.
//
// The value of such a variable is the number it stands for; a text that it is compared with is read as a number, so that
// `os.environ["RANK"] == "0"` is the predicate `rank == 0`. What is taken for granted: the process runs in a job, so the
// variable is there, and None and defaults do not happen. Unsound in one direction: numbers and texts of numbers are not
// kept apart, so `get_rank() == "0"`, which Python finds false on every rank, is taken for the test that was meant.
#include <algorithm>
#include <charconv>
#include <string>

#include "analyzer/variation/evaluator.h"

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

// A rank or a size compared with texts; none for any other comparison.
ValueId FunctionEvaluator::CompareTexts(ir::CompareOp op, ValueId left, ValueId right) {
  const bool is_membership = op == ir::CompareOp::In || op == ir::CompareOp::NotIn;
  if (is_membership && store_[right].kind == ValueKind::External) return IsInEnvironment(op, left, right);
  if (store_[left].kind == ValueKind::Str && !is_membership) std::swap(left, right);
  if (store_[left].kind != ValueKind::Coordinate) return {};
  if (is_membership) return IsAmongTexts(op, left, right);
  const bool is_equality = op == ir::CompareOp::Eq || op == ir::CompareOp::NotEq;
  if (store_[right].kind != ValueKind::Str || !NameId{store_[right].a} || !is_equality) return {};
  const std::optional<int64_t> number = DecimalOf(Text(NameId{store_[right].a}));
  return number ? store_.Compare(op, left, store_.Int(*number)) : store_.Bool(op == ir::CompareOp::NotEq);
}

// `os.getenv("RANK") in (None, "0")`
ValueId FunctionEvaluator::IsAmongTexts(ir::CompareOp op, ValueId number, ValueId container) {
  if (store_[container].kind != ValueKind::Tuple) return {};
  const std::vector<ValueId> items(store_.Kids(container).begin(), store_.Kids(container).end());
  const bool has_text = std::ranges::any_of(items, [&](ValueId item) { return store_[item].kind == ValueKind::Str; });
  if (!has_text) return {};
  std::vector<ValueId> numbers;
  for (const ValueId item : items) {
    if (!IsConstant(store_[item])) return {};
    if (store_[item].kind == ValueKind::Int) numbers.push_back(item);
    if (store_[item].kind != ValueKind::Str || !NameId{store_[item].a}) continue;
    if (const std::optional<int64_t> decimal = DecimalOf(Text(NameId{store_[item].a}))) {
      numbers.push_back(store_.Int(*decimal));
    }
  }
  const bool is_in = op == ir::CompareOp::In;
  if (numbers.empty()) return store_.Bool(!is_in);
  if (numbers.size() > 1) return store_.Compare(op, number, store_.Tuple(numbers));
  return store_.Compare(is_in ? ir::CompareOp::Eq : ir::CompareOp::NotEq, number, numbers[0]);
}

// `"RANK" in os.environ`: whether there is a launcher, the same for all of its processes.
ValueId FunctionEvaluator::IsInEnvironment(ir::CompareOp op, ValueId key, ValueId container) {
  if (Text(NameId{store_[container].a}) != "os.environ") return {};
  const Value value = store_[key];
  if (value.kind == ValueKind::Select) {
    const std::vector<ValueId> kids(store_.Kids(key).begin(), store_.Kids(key).end());
    const ValueId then_value = CompareValues(op, kids[1], container);
    return store_.Select(kids[0], then_value, CompareValues(op, kids[2], container));
  }
  if (value.kind != ValueKind::Str || !knowledge_.FindEnvironment(NameId{value.a})) return {};
  const Value launched{.kind = ValueKind::Coordinate, .op = static_cast<uint8_t>(knowledge::Coordinate::Distributed),
                       .a = value.a};
  const ValueId is_there = store_.Make(launched, {});
  return op == ir::CompareOp::In ? is_there : store_.Not(is_there);
}

// A value in which parameters were replaced by arguments, with the variables read whose keys are known now.
ValueId FunctionEvaluator::ReadEnvironment(ValueId id, ValueStore::Memo& memo) {
  const Value value = store_[id];
  if (value.kid_count == 0) return id;
  if (const auto found = memo.find(id.index); found != memo.end()) return found->second;
  const std::vector<ValueId> before(store_.Kids(id).begin(), store_.Kids(id).end());
  std::vector<ValueId> kids = before;
  for (ValueId& kid : kids) {
    if (kid) kid = ReadEnvironment(kid, memo);
  }
  ValueId result = id;
  if (value.kind == ValueKind::Derived && value.a == tables_.NameSymbol(kEnvironment)) result = EnvironmentAt(kids[0]);
  else if (value.kind == ValueKind::Compare) result = CompareValues(static_cast<ir::CompareOp>(value.op), kids[0], kids[1]);
  else if (kids != before) result = Rebuilt(value, kids);
  memo.emplace(id.index, result);
  return result;
}

ValueId FunctionEvaluator::Rebuilt(Value value, std::span<const ValueId> kids) {
  switch (value.kind) {
    case ValueKind::Unary:
      return store_.Unary(static_cast<ir::UnaryOp>(value.op), kids[0]);
    case ValueKind::Binary:
      return store_.Binary(static_cast<ir::BinaryOp>(value.op), kids[0], kids[1]);
    case ValueKind::And:
      return store_.And(kids);
    case ValueKind::Or:
      return store_.Or(kids);
    case ValueKind::Select:
      return store_.Select(kids[0], kids[1], kids[2]);
    default:
      value.flags &= static_cast<uint8_t>(~kHasParam);
      return store_.Make(value, kids);
  }
}

}  // namespace allranks::variation
