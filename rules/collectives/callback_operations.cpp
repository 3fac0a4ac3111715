#include "rules/collectives/callback_operations.h"

#include <algorithm>

#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

// The classes that something is handed which is not of this project.
std::unordered_set<uint32_t> HandedOverIn(const Context& context) {
  std::unordered_set<uint32_t> classes;
  for (uint32_t m = 0; m < context.program.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    const ir::Module& module = context.program.modules[module_id];
    for (const ir::ExprId call : context.index.ExprsOf(module_id, ir::ExprKind::Call)) {
      for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
        const variation::ValueId value = context.facts.value(module_id, ir::ArgAt(module, module[call], i).value);
        const bool is_class = value && context.values[value].kind == variation::ValueKind::Class;
        if (is_class && !CalledFunction(context, module_id, call)) classes.insert(context.values[value].class_id().index);
      }
    }
  }
  return classes;
}

bool IsOfKnownLibrary(const Context& context, binding::ClassId handler) {
  return std::ranges::any_of(context.program.classes[handler].external_bases,
                             [&](base::NameId base) { return static_cast<bool>(context.knowledge.FindClass(base)); });
}

}  // namespace

CallbackOperations::CallbackOperations(const Context& context) : context_(context) {
  for (const objects::KnownCall& call : context.index.known_calls()) {
    const binding::Func& func = context.program.funcs[call.function];
    if (func.function == ir::kTopLevel || !call.entry->has_operation || !context.index.CallersOf(call.function).empty()) continue;
    if (!func.owner && context.index.GivenTo(call.function).empty()) continue;
    const std::pair key(func.module.index, call.entry->name);
    std::vector<FuncId>& uncalled = func.owner ? methods_[key].each : functions_[key];
    if (uncalled.empty() || uncalled.back() != call.function) uncalled.push_back(call.function);
  }
}

bool CallbackOperations::MayHold(const traces::Difference& difference) {
  if (difference.is_own) return false;
  const FuncId culprit = difference.culprit.function;
  const std::pair key(context_.program.funcs[culprit].module.index, context_.knowledge[difference.culprit.entry].name);
  const auto functions = functions_.find(key);
  const auto is_beside = [&](FuncId function) { return function != culprit && IsHandedOverIn(difference.condition_function, function); };
  if (functions != functions_.end() && std::ranges::any_of(functions->second, is_beside)) return true;
  const auto methods = methods_.find(key);
  if (methods == methods_.end()) return false;
  auto& [each, are_of_handed_over] = methods->second;
  if (!std::exchange(are_of_handed_over, true)) std::erase_if(each, [&](FuncId method) { return !MayBeRun(method); });
  return std::ranges::any_of(each, [&](FuncId method) { return method != culprit; });
}

bool CallbackOperations::IsHandedOverIn(FuncId function, FuncId callback) const {
  return std::ranges::any_of(context_.index.GivenTo(callback), [&](const objects::Site& call) {
    const bool is_of_project = call.function && CalledFunction(context_, context_.program.funcs[call.function].module, call.expr);
    return call.function == function && !is_of_project && context_.index.KnownCallAt(call) == nullptr;
  });
}

bool CallbackOperations::MayBeRun(FuncId method) {
  if (!handed_over_) handed_over_ = HandedOverIn(context_);
  const binding::ClassId owner = context_.program.funcs[method].owner;
  return handed_over_->contains(owner.index) && !IsOfKnownLibrary(context_, owner);
}

}  // namespace allranks::rules
