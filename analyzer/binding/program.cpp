#include "analyzer/binding/program.h"

namespace allranks::binding {

std::string Program::FunctionName(FuncId id) const {
  std::string name;
  while (id) {
    const Func& func = funcs[id];
    const ir::Function& function = this->function(id);
    std::string part = function.name ? std::string(text(function.name)) : "<lambda>";
    if (func.owner) part = std::string(text(ir_class(func.owner).name)) + "." + part;
    name = name.empty() ? part : part + "." + name;
    id = func.parent;
  }
  return name;
}

FuncId Program::FindMethod(ClassId class_id, NameId name) const {
  for (const ClassId base : classes[class_id].mro) {
    const auto& methods = classes[base].methods;
    for (auto it = methods.rbegin(); it != methods.rend(); ++it) {
      if (it->first == name) return it->second;
    }
  }
  return FuncId::None();
}

Target Program::Lookup(ModuleId module, NameId name) const {
  // Re-exports are followed step by step; a cycle of imports ends with the bound.
  constexpr int kLongestChain = 24;
  for (int step = 0; step < kLongestChain; ++step) {
    const auto found = top_level[module.index].find(name);
    if (found != top_level[module.index].end()) {
      const Target& target = found->second;
      const bool is_reexport = target.kind == TargetKind::Variable && target.module != module;
      if (!is_reexport) return target;
      module = target.module;
      name = target.name;
      continue;
    }
    for (const ModuleId star : stars[module.index]) {
      if (star == module) continue;
      const auto via_star = top_level[star.index].find(name);
      if (via_star == top_level[star.index].end()) continue;
      if (via_star->second.kind == TargetKind::Variable && via_star->second.module != star) {
        return Lookup(via_star->second.module, via_star->second.name);
      }
      return via_star->second;
    }
    const std::string submodule = infos[module].dotted + "." + std::string(text(name));
    if (infos[module].is_package) {
      if (const ModuleId found_module = FindModule(submodule)) {
        return {.kind = TargetKind::Module, .module = found_module};
      }
    }
    return {};
  }
  return {};
}

Target Program::ImportTarget(ModuleId module, ir::ImportId import) const {
  const Target& target = import_targets[module.index][import.index];
  if (target.kind != TargetKind::Variable) return target;
  const Target end = Lookup(target.module, target.name);
  if (end.kind != TargetKind::None) return end;
  const std::string qualified = infos[target.module].dotted + "." + std::string(text(target.name));
  return {.kind = TargetKind::External, .name = names->Intern(qualified)};
}

ModuleId Program::FindModule(std::string_view dotted) const {
  const auto found = by_dotted.find(std::string(dotted));
  if (found == by_dotted.end()) return ModuleId::None();
  return found->second;
}

}  // namespace allranks::binding
