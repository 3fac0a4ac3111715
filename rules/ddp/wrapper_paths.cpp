#include "rules/ddp/wrapper_paths.h"

#include <algorithm>
#include <string_view>

#include "analyzer/ir/bindings.h"
#include "rules/finding_parts.h"
#include "rules/wrapping.h"

namespace allranks::rules {

using objects::Guard;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

WrapperPaths::WrapperPaths(const Context& context) : context_(context) {
  for (const objects::KnownCall& call : rules::Wrappings(context)) {
    const ValueId made = context.facts.value(context.program.funcs[call.function].module, call.expr);
    all_.push_back({made, context.guards.Of({call.function, call.expr})});
  }
}

std::vector<ValueId> WrapperPaths::WrappersAt(const Site& object) const {
  if (all_.empty()) return {};
  std::vector<ValueId> wrappers;
  Wrappings wrappings;
  const ValueId value = context_.facts.value(context_.program.funcs[object.function].module, object.expr);
  for (const ValueId leaf : context_.values.Leaves(value)) {
    if (!IsWrapper(leaf)) continue;
    wrappers.push_back(leaf);
    for (const Wrapping& wrapping : all_) {
      if (context_.values.MayBeSame(wrapping.made, leaf)) wrappings.push_back(&wrapping);
    }
  }
  if (wrappers.empty() || !Comes(object, wrappings, 0)) return {};
  return wrappers;
}

// A wrapper class of the project may hand attributes through.
bool WrapperPaths::IsWrapper(ValueId value) const {
  return context_.values[value].kind == ValueKind::Object && context_.values.IsA(value, "torch.nn.parallel.DistributedDataParallel");
}

bool WrapperPaths::Comes(const Site& object, const Wrappings& wrappings, int depth) const {
  constexpr int kLongestWay = 4;
  if (depth > kLongestWay || IsKeptAway(object, wrappings)) return false;
  const ValueId value = context_.facts.value(context_.program.funcs[object.function].module, object.expr);
  if (!value) return false;
  if (!IsVariableOf(object.function, object.expr)) return IsWrapped(context_, value);
  if (IsUnwrapped(object.function, ir::NameOf(context_.program.module_of(object.function)[object.expr]))) return false;
  std::vector<ValueId> arms;
  AddArms(value, wrappings, arms);
  return std::ranges::any_of(arms, [&](ValueId arm) {
    const variation::Value& node = context_.values[arm];
    if (node.kind == ValueKind::Param) {
      return node.function() == object.function && ComesFromCallers(object.function, node.param_index(), wrappings, depth);
    }
    return IsWrapper(arm);
  });
}

// What a value is by itself, parameters as they are: the arms of a choice, but for those that hold where the model is not wrapped,
// and choices by the kind of the model: `model.module if isinstance(model, DDP) else model`.
void WrapperPaths::AddArms(ValueId value, const Wrappings& wrappings, std::vector<ValueId>& arms) const {
  if (!value) return;
  if (context_.values[value].kind != ValueKind::Select) return arms.push_back(value);
  const auto kids = context_.facts.values_store.Kids(value);
  if (context_.values.AnyPart(kids[0], [&](ValueId part) { return AsksForKind(part); })) return;
  for (const bool holds : {true, false}) {
    const bool is_apart = std::ranges::any_of(wrappings, [&](const Wrapping* wrapping) {
      return std::ranges::any_of(wrapping->guards, [&](const Guard& guard) { return guard.holds != holds && IsOneQuestion(ValueOf(guard), kids[0]); });
    });
    if (!is_apart) AddArms(kids[holds ? 1 : 2], wrappings, arms);
  }
}

bool WrapperPaths::AsksForKind(ValueId part) const {
  const base::NameId name = OperationOf(part);
  const std::string_view text = name ? context_.program.text(name) : std::string_view();
  return text == "isinstance" || text == "hasattr";
}

// `args.distributed` and `self.args.distributed` as well.
bool WrapperPaths::IsOneQuestion(ValueId a, ValueId b) const {
  if (!a || !b) return false;
  const bool are_attributes = context_.values[a].kid_count == 1 && context_.values[b].kid_count == 1;
  return a == b || (are_attributes && OperationOf(a) && OperationOf(a) == OperationOf(b));
}

base::NameId WrapperPaths::OperationOf(ValueId value) const {
  const variation::Value& node = context_.values[value];
  return context_.facts.values_store.DerivedBy(node);
}

bool WrapperPaths::ComesFromCallers(binding::FuncId function, uint32_t param, const Wrappings& wrappings, int depth) const {
  return std::ranges::any_of(context_.index.CallersOf(function), [&](const Site& caller) {
    const variation::CallFact* fact = context_.facts.call(caller.function, caller.expr);
    if (fact == nullptr || param >= fact->arg_count) return false;
    const ValueId passed = context_.facts.args(*fact)[param];
    const ir::ModuleId module_id = context_.program.funcs[caller.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    if (!passed || module[caller.expr].kind != ir::ExprKind::Call) return false;
    for (uint32_t i = 0; i < ir::ArgCount(module, module[caller.expr]); ++i) {
      const ir::ExprId arg = ir::ArgAt(module, module[caller.expr], i).value;
      if (context_.facts.value(module_id, arg) == passed) return Comes({caller.function, arg}, wrappings, depth + 1);
    }
    return false;
  });
}

bool WrapperPaths::IsKeptAway(const Site& site, const Wrappings& wrappings) const {
  return std::ranges::any_of(context_.guards.Of(site), [&](const Guard& guard) {
    if (AsksForAttribute(context_, guard) && !IsOfOtherKind(guard)) return true;
    return std::ranges::any_of(wrappings, [&](const Wrapping* wrapping) {
      return std::ranges::any_of(wrapping->guards, [&](const Guard& there) {
        const bool is_same = ValueOf(guard) && ValueOf(guard) == ValueOf(there) && guard.holds == there.holds;
        return !is_same && SpeaksOfOne(guard, there);
      });
    });
  });
}

bool WrapperPaths::SpeaksOfOne(const Guard& guard, const Guard& other) const {
  const std::vector<base::NameId> words = Words(context_.program.funcs[guard.function].module, guard.test);
  return std::ranges::any_of(Words(context_.program.funcs[other.function].module, other.test),
                             [&](base::NameId word) { return std::ranges::count(words, word) > 0; });
}

// `isinstance(model, nn.DataParallel)` that came out false: a DDP wrapper is none.
bool WrapperPaths::IsOfOtherKind(const Guard& guard) const {
  const ir::ModuleId module_id = context_.program.funcs[guard.function].module;
  const ir::Module& module = context_.program.modules[module_id];
  const ir::Expr& test = module[guard.test];
  if (guard.holds || test.kind != ir::ExprKind::Call || ir::ArgCount(module, test) != 2) return false;
  const ir::Expr& callee = module[ir::CalleeOf(test)];
  if (callee.kind != ir::ExprKind::Name || context_.program.text(ir::NameOf(callee)) != "isinstance") return false;
  const std::string_view asked = context_.values.External(context_.facts.value(module_id, ir::ArgAt(module, test, 1).value));
  return asked == "torch.nn.DataParallel" || asked == "torch.nn.parallel.DataParallel";
}

bool WrapperPaths::IsVariableOf(binding::FuncId function, ir::ExprId expr) const {
  const ir::Module& module = context_.program.module_of(function);
  if (module[expr].kind != ir::ExprKind::Name) return false;
  const base::NameId name = ir::NameOf(module[expr]);
  const ir::Function& node = context_.program.function(function);
  if (std::ranges::any_of(node.params, [&](const ir::Param& param) { return param.name == name; })) return true;
  bool is_bound = false;
  ir::ForEachBindingIn(module, node.body, [&](const ir::Binding& binding) { is_bound = is_bound || binding.name == name; });
  return is_bound;
}

// `inner = getattr(model, "module", model)`: whatever the model is, this is what a wrapper holds.
bool WrapperPaths::IsUnwrapped(binding::FuncId function, base::NameId variable) const {
  const ir::ModuleId module_id = context_.program.funcs[function].module;
  const ir::Module& module = context_.program.modules[module_id];
  bool is_unwrapped = false;
  ir::ForEachStmtIn(module, context_.program.function(function).body, [&](const ir::Stmt& stmt) {
    if (stmt.kind != ir::StmtKind::Assign || !TakesInner(module_id, ir::AssignedOf(stmt))) return;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      is_unwrapped = is_unwrapped || (module[target].kind == ir::ExprKind::Name && ir::NameOf(module[target]) == variable);
    }
  });
  return is_unwrapped;
}

bool WrapperPaths::TakesInner(ir::ModuleId module_id, ir::ExprId expr) const {
  const ir::Module& module = context_.program.modules[module_id];
  if (module[expr].kind == ir::ExprKind::Attribute) return context_.program.text(ir::AttrOf(module[expr])) == "module";
  if (module[expr].kind != ir::ExprKind::Call || ir::ArgCount(module, module[expr]) != 3) return false;
  const ValueId callee = context_.facts.value(module_id, ir::CalleeOf(module[expr]));
  const ValueId name = context_.facts.value(module_id, ir::ArgAt(module, module[expr], 1).value);
  return context_.values.External(callee) == "builtins.getattr" && context_.values.Str(name) == "module";
}

// `self.args.distributed`, `dist.is_initialized()`: what is asked for, and not where it is kept.
std::vector<base::NameId> WrapperPaths::Words(ir::ModuleId module_id, ir::ExprId test) const {
  const ir::Module& module = context_.program.modules[module_id];
  std::vector<base::NameId> words;
  std::vector<ir::ExprId> work = {test};
  while (!work.empty()) {
    const ir::ExprId at = work.back();
    work.pop_back();
    if (module[at].kind == ir::ExprKind::Name) words.push_back(ir::NameOf(module[at]));
    if (module[at].kind == ir::ExprKind::Attribute) words.push_back(ir::AttrOf(module[at]));
    else ir::ForEachPart(module, at, [&](ir::ExprId part) { work.push_back(part); });
  }
  return words;
}

ValueId WrapperPaths::ValueOf(const Guard& guard) const {
  return context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
}

}  // namespace allranks::rules
