#include "analyzer/objects/part_modules.h"

#include <algorithm>

#include "analyzer/objects/values.h"

namespace allranks::objects {

bool PartModules::HaveHookAt(ir::ModuleId module, uint32_t position) const {
  const std::vector<FuncId>& methods = MethodsOf(module);
  const auto behind = std::ranges::upper_bound(methods, position, {}, [&](FuncId method) { return program_.function(method).begin; });
  if (behind == methods.begin()) return false;
  const FuncId method = *std::prev(behind);
  return position < program_.function(method).end && IsRunByHooks(method, 0) && IsPart(program_.funcs[method].owner);
}

const std::vector<FuncId>& PartModules::MethodsOf(ir::ModuleId module) const {
  const auto [known, is_new] = methods_.try_emplace(module.index);
  std::vector<FuncId>& methods = known->second;
  for (uint32_t f = 0; is_new && f < program_.funcs.size(); ++f) {
    const binding::Func& func = program_.funcs[FuncId{f}];
    if (func.module == module && func.owner && func.function != ir::kTopLevel) methods.push_back(FuncId{f});
  }
  if (!is_new) return methods;
  std::ranges::stable_sort(methods, {}, [&](FuncId method) { return program_.function(method).begin; });
  uint32_t end = 0;
  std::erase_if(methods, [&](FuncId method) {
    const bool is_inner = program_.function(method).end <= end;
    end = std::max(end, program_.function(method).end);
    return is_inner;
  });
  return methods;
}

// What a trainer calls, and helpers that nothing else does.
bool PartModules::IsRunByHooks(FuncId function, int depth) const {
  constexpr int kDeepest = 3;
  const base::NameId name = program_.names->Find(kLightningModule);
  const knowledge::ClassId base = name ? knowledge_.FindClass(name) : knowledge::ClassId();
  if (base && knowledge_.FindMember(base, program_.function(function).name)) return true;
  const auto callers = index_.CallersOf(function);
  return depth < kDeepest && !callers.empty() &&
         std::ranges::all_of(callers, [&](const Site& caller) { return IsRunByHooks(caller.function, depth + 1); });
}

// Lightning's, and so are all that derive from it.
bool PartModules::IsPart(binding::ClassId owner) const {
  const auto is_named = [&](binding::ClassId each) {
    const binding::ClassInfo& info = program_.classes[each];
    return others_.name_as_part && others_.name_as_part(program_.text(program_.modules[info.module].classes[info.ir_class].name));
  };
  return DerivesFrom(program_, knowledge_, owner, kLightningModule) && is_named(owner) && std::ranges::all_of(program_.classes[owner].subclasses, is_named);
}

}  // namespace allranks::objects
