#include "analyzer/objects/part_modules.h"

#include <algorithm>

#include "analyzer/objects/values.h"

namespace allranks::objects {

bool PartModules::HaveHookAt(ir::ModuleId module, uint32_t position) const {
  for (uint32_t f = 0; f < program_.funcs.size(); ++f) {
    const FuncId function{f};
    const binding::Func& func = program_.funcs[function];
    if (func.module != module || !func.owner || func.function == ir::kTopLevel) continue;
    const ir::Function& node = program_.function(function);
    if (node.begin <= position && position < node.end) return IsRunByHooks(function, 0) && IsPart(func.owner);
  }
  return false;
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
