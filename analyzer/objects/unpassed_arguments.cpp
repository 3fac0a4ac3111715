#include "analyzer/objects/unpassed_arguments.h"

#include <algorithm>

#include "analyzer/objects/every_way.h"

namespace allranks::objects {

using variation::ValueKind;

bool UnpassedArguments::AreNeededAt(ir::ModuleId module, uint32_t position) const {
  return IsOnEveryWay(index_, module, position, [&](FuncId function, ir::StmtId stmt) {
    return std::ranges::any_of(ClaimsBefore(program_, facts_, guards_, function, stmt), [&](const Claim& claim) {
      return (!IsConstant(facts_.values_store, claim.value) || IsOfOwnField(function, claim.test)) && Fails(claim, claim.value, 0);
    });
  });
}

// `self.visualize`. What other objects hold may be set by anybody.
bool UnpassedArguments::IsOfOwnField(FuncId function, ir::ExprId test) const {
  const std::vector<ir::Param>& params = program_.function(function).params;
  if (!program_.funcs[function].owner || params.empty()) return false;
  const ir::Module& module = program_.module_of(function);
  return std::ranges::any_of(index_.ExprsOf(program_.funcs[function].module, ir::ExprKind::Attribute), [&](ir::ExprId id) {
    const ir::Expr& object = module[ir::ObjectOf(module[id])];
    const bool is_within = module[id].begin >= module[test].begin && module[id].end <= module[test].end;
    return is_within && object.kind == ir::ExprKind::Name && ir::NameOf(object) == params[0].name;
  });
}

// Whether a claim is false of a value, as all calls have it.
bool UnpassedArguments::Fails(const Claim& claim, ValueId value, int depth) const {
  constexpr int kDeepest = 8;
  if (!value || depth > kDeepest) return false;
  if (IsConstant(facts_.values_store, value)) return IsFalseFor(claim, value);
  const variation::Value& node = facts_.values_store[value];
  if (node.kind != ValueKind::Param) return false;
  const std::span<const Site> callers = index_.CallersOf(node.function());
  // What processes are started with: `mp.spawn(train, args=(size, resume))`.
  const bool is_handed_over = callers.empty() && !index_.GivenTo(node.function()).empty();
  const ValueId handed = is_handed_over ? facts_.param(node.function(), node.param_index()) : ValueId::None();
  if (handed && handed != value) return Fails(claim, handed, depth + 1);
  return !callers.empty() && std::ranges::all_of(callers, [&](const Site& caller) {
    return Fails(claim, index_.PassedBy(caller, node.function(), node.param_index()), depth + 1);
  });
}

bool UnpassedArguments::IsFalseFor(const Claim& claim, ValueId constant) const {
  if (claim.equals) return (constant == claim.equals) != claim.holds;
  const variation::Value& value = facts_.values_store[constant];
  const bool is_false = value.kind == ValueKind::None || (value.kind == ValueKind::Bool && *value.integer() == 0);
  const bool is_true = value.kind == ValueKind::Bool && *value.integer() != 0;
  return claim.holds ? is_false : is_true;
}

}  // namespace allranks::objects
