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
    if (!func.owner || !call.entry->has_operation || !context.index.CallersOf(call.function).empty()) continue;
    std::vector<FuncId>& methods = methods_[{func.module.index, call.entry->name}].each;
    if (methods.empty() || methods.back() != call.function) methods.push_back(call.function);
  }
}

bool CallbackOperations::MayHold(const traces::Difference& difference) {
  if (difference.is_own) return false;
  const FuncId culprit = difference.culprit.function;
  const auto methods = methods_.find({context_.program.funcs[culprit].module.index, context_.knowledge[difference.culprit.entry].name});
  if (methods == methods_.end()) return false;
  auto& [each, are_of_handed_over] = methods->second;
  if (!std::exchange(are_of_handed_over, true)) std::erase_if(each, [&](FuncId method) { return !MayBeRun(method); });
  return std::ranges::any_of(each, [&](FuncId method) { return method != culprit; });
}

bool CallbackOperations::MayBeRun(FuncId method) {
  if (!handed_over_) handed_over_ = HandedOverIn(context_);
  const binding::ClassId owner = context_.program.funcs[method].owner;
  return handed_over_->contains(owner.index) && !IsOfKnownLibrary(context_, owner);
}

}  // namespace allranks::rules
