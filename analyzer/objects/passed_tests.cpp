#include "analyzer/objects/passed_tests.h"

#include <algorithm>

namespace allranks::objects {

using variation::ValueKind;

namespace {

bool IsSomething(ValueKind kind) {
  switch (kind) {
    case ValueKind::Bool:
    case ValueKind::Int:
    case ValueKind::Float:
    case ValueKind::Str:
    case ValueKind::Tuple:
    case ValueKind::Dict:
    case ValueKind::Function:
    case ValueKind::Class:
    case ValueKind::Instance:
    case ValueKind::Object:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<bool> PassedTests::Truth(ValueId test) const {
  const ValueId known = Passed(test);
  if (!known) return std::nullopt;
  const variation::Value& value = store_[known];
  const auto kids = store_.Kids(known);
  switch (value.kind) {
    case ValueKind::None:
      return false;
    case ValueKind::Bool:
      return *value.integer() != 0;
    case ValueKind::Unary: {
      const std::optional<bool> inner = value.unary_op() == ir::UnaryOp::Not ? Truth(kids[0]) : std::nullopt;
      return inner ? std::optional(!*inner) : std::nullopt;
    }
    case ValueKind::And:
      return std::ranges::any_of(kids, [&](ValueId kid) { return Truth(kid) == false; }) ? std::optional(false) : std::nullopt;
    case ValueKind::Or:
      return std::ranges::any_of(kids, [&](ValueId kid) { return Truth(kid) == true; }) ? std::optional(true) : std::nullopt;
    case ValueKind::Compare:
      return Compared(value.compare_op(), Passed(kids[0]), Passed(kids[1]));
    default:
      return std::nullopt;
  }
}

// What the calls on the way hand over for a parameter, from one to the next.
ValueId PassedTests::Passed(ValueId id) const {
  for (const PassedArgs& call : calls_) {
    if (!id) return id;
    const variation::Value& value = store_[id];
    if (value.kind != ValueKind::Param) return id;
    if (value.function() == call.function) id = value.param_index() < call.args.size() ? call.args[value.param_index()] : ValueId::None();
  }
  return id;
}

// `model is not None`, `name in _MODELS`, `epoch == "best"`
std::optional<bool> PassedTests::Compared(ir::CompareOp op, ValueId left, ValueId right) const {
  if (op == ir::CompareOp::In || op == ir::CompareOp::NotIn) {
    const std::optional<bool> is_in = IsIn(left, right);
    return is_in ? std::optional(*is_in == (op == ir::CompareOp::In)) : std::nullopt;
  }
  if (op == ir::CompareOp::Eq || op == ir::CompareOp::NotEq) {
    const std::optional<bool> are_equal = AreEqual(left, right);
    return are_equal ? std::optional(*are_equal == (op == ir::CompareOp::Eq)) : std::nullopt;
  }
  const bool asks = op == ir::CompareOp::Is || op == ir::CompareOp::IsNot;
  if (!asks || !left || !right || store_[right].kind != ValueKind::None) return std::nullopt;
  if (store_[left].kind == ValueKind::None) return op == ir::CompareOp::Is;
  return IsSomething(store_[left].kind) ? std::optional(op == ir::CompareOp::IsNot) : std::nullopt;
}

// Numbers and texts that are written down.
std::optional<bool> PassedTests::AreEqual(ValueId left, ValueId right) const {
  if (!left || !right) return std::nullopt;
  const variation::Value& first = store_[left];
  const variation::Value& second = store_[right];
  const bool are_texts = first.kind == ValueKind::Str && second.kind == ValueKind::Str;
  if (are_texts) return first.name() == second.name();
  if (first.integer() && second.integer()) return first.integer() == second.integer();
  const bool is_one_text = first.kind == ValueKind::Str || second.kind == ValueKind::Str;
  return is_one_text && (first.integer() || second.integer()) ? std::optional(false) : std::nullopt;
}

// A text among the texts that are written down.
std::optional<bool> PassedTests::IsIn(ValueId text, ValueId container) const {
  if (!text || !container || store_[text].kind != ValueKind::Str) return std::nullopt;
  const bool is_dict = store_[container].kind == ValueKind::Dict;
  if (!is_dict && store_[container].kind != ValueKind::Tuple) return std::nullopt;
  const auto kids = store_.Kids(container);
  bool found = false;
  for (size_t i = 0; i < kids.size(); i += is_dict ? 2 : 1) {
    if (!kids[i] || store_[kids[i]].kind != ValueKind::Str) return std::nullopt;
    found = found || store_[kids[i]].name() == store_[text].name();
  }
  return found;
}

}  // namespace allranks::objects
