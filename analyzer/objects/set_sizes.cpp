#include "analyzer/objects/set_sizes.h"

#include <algorithm>
#include <string_view>

namespace allranks::objects {
namespace {

using variation::Value;
using variation::ValueKind;

bool IsBinary(const Value& value, ir::BinaryOp op) { return value.kind == ValueKind::Binary && value.binary_op() == op; }

}  // namespace

bool SetSizes::IsCutToMultiple(ValueId set) const {
  return AnyMadeOf(set, [&](ValueId part) { return IsMultiple(part); });
}

bool SetSizes::IsAskedForRest(std::span<const Site> places, ValueId set) const {
  return set && std::ranges::any_of(places, [&](const Site& place) {
    const ir::ModuleId module_id = program_.funcs[place.function].module;
    const ir::Module& module = program_.modules[module_id];
    return std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Binary), [&](ir::ExprId id) {
      if (static_cast<ir::BinaryOp>(module[id].op) != ir::BinaryOp::Mod) return false;
      const ir::Expr& left = module[ir::LeftOf(module[id])];
      if (left.kind != ir::ExprKind::Call || ir::ArgCount(module, left) != 1) return false;
      if (values_.External(facts_.value(module_id, ir::CalleeOf(left))) != "builtins.len") return false;
      const ir::StmtId stmt = index_.tree(module_id).StatementOf(id);
      const ValueId asked = facts_.value(module_id, ir::ArgAt(module, left, 0).value);
      return stmt && asked && index_.FunctionOf(module_id, stmt) == place.function && values_.MayBeSame(asked, set);
    });
  });
}

// `n // k * k`.
bool SetSizes::IsMultiple(ValueId stop) const {
  const auto& store = facts_.values_store;
  if (!IsBinary(store[stop], ir::BinaryOp::Mul)) return false;
  const auto factors = store.Kids(stop);
  const auto divides = [&](ValueId quotient, ValueId divisor) {
    return quotient && IsBinary(store[quotient], ir::BinaryOp::FloorDiv) && store.OperandsOf(quotient).right == divisor;
  };
  return divides(factors[0], factors[1]) || divides(factors[1], factors[0]);
}

bool SetSizes::AnyMadeOf(ValueId set, const std::function<bool(ValueId)>& is_so) const {
  if (!set) return false;
  return values_.AnyPart(set, [&](ValueId part) {
    if (is_so(part)) return true;
    const Value& node = facts_.values_store[part];
    if (node.kind != ValueKind::Instance) return false;
    const auto args = index_.MadeWith(node.class_id());
    return std::ranges::any_of(args, [&](ValueId arg) { return arg && values_.AnyPart(arg, is_so); });
  });
}

bool SetSizes::IsCappedAtEven(ValueId set) const {
  constexpr int64_t kMostRanks = 8;
  const auto& store = facts_.values_store;
  const auto is_operation = [&](ValueId value, std::string_view operation) {
    const base::NameId name = store.DerivedBy(store[value]);
    return name && program_.text(name) == operation;
  };
  // `items[:n]`
  const auto is_capped = [&](ValueId part) {
    const auto kids = store.Kids(part);
    if (!is_operation(part, "[]") || kids.size() != 2 || !kids[1] || !is_operation(kids[1], "[:]")) return false;
    const auto bounds = store.Kids(kids[1]);
    const auto stop = bounds.size() > 1 && bounds[1] ? values_.Int(bounds[1]) : std::nullopt;
    return stop && *stop > 0 && *stop % kMostRanks == 0;
  };
  if (!set) return false;
  return std::ranges::any_of(values_.Leaves(set), [&](ValueId leaf) {
    if (store[leaf].kind != ValueKind::Instance) return is_capped(leaf);
    const base::NameId length = program_.names->Find("__len__");
    const FuncId method = length ? program_.FindMethod(store[leaf].class_id(), length) : FuncId::None();
    const ValueId returned = method ? facts_.functions[method].returns : ValueId::None();
    return returned && values_.AnyPart(returned, is_capped);
  });
}

}  // namespace allranks::objects
