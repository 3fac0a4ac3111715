#include "analyzer/binding/program.h"

#include <algorithm>

namespace allranks::binding {

std::string Program::FunctionName(FuncId id) const {
  const char* const scope = id && module_of(id).language == ir::Language::Cpp ? "::" : ".";
  std::string name;
  while (id) {
    const Func& func = funcs[id];
    const ir::Function& function = this->function(id);
    std::string part = function.name ? std::string(text(function.name)) : "<lambda>";
    if (func.owner) part = std::string(text(ir_class(func.owner).name)) + scope + part;
    name = name.empty() ? part : part + scope + name;
    id = func.parent;
  }
  return name;
}

FuncId Program::FindFunction(ModuleId from, NameId symbol) const {
  const auto found = functions_by_symbol.find(symbol);
  if (found == functions_by_symbol.end()) return FuncId::None();
  for (const FuncId id : found->second) {
    if (funcs[id].module == from) return id;
  }
  return found->second.size() == 1 ? found->second[0] : FuncId::None();
}

ClassId Program::FindClass(NameId symbol) const {
  const auto found = classes_by_symbol.find(symbol);
  return found == classes_by_symbol.end() ? ClassId::None() : found->second;
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

FuncId Program::FindCallMethod(ClassId class_id) const {
  const NameId name = names->Find("__call__");
  return name ? FindMethod(class_id, name) : FuncId::None();
}

Target Program::Lookup(ModuleId module, NameId name) const {
  // Re-exports are followed step by step; a cycle of imports ends with the bound.
  constexpr int kLongestChain = 24;
  std::vector<ModuleId> starred;
  return Lookup(module, name, kLongestChain, starred);
}

// `starred`: the modules in which this name was looked up along stars, each once.
Target Program::Lookup(ModuleId module, NameId name, int steps_left, std::vector<ModuleId>& starred) const {
  if (steps_left == 0) return {};
  if (const auto found = top_level[module.index].find(name); found != top_level[module.index].end()) {
    const Target& target = found->second;
    if (target.kind != TargetKind::Variable || target.module == module) return target;
    // By another name, it may be.
    std::vector<ModuleId> starred_there;
    return Lookup(target.module, target.name, steps_left - 1, starred_there);
  }
  for (const ModuleId star : stars[module.index]) {
    if (std::ranges::count(starred, star) > 0) continue;
    starred.push_back(star);
    const Target target = Lookup(star, name, steps_left - 1, starred);
    // Of the modules below a package those that it has imported.
    const bool is_bound = target.kind != TargetKind::Module || top_level[star.index].contains(name);
    if (target.kind != TargetKind::None && is_bound) return target;
  }
  if (infos[module].is_package) {
    const std::string submodule = infos[module].dotted + "." + std::string(text(name));
    if (const ModuleId found = FindModule(submodule)) return {.kind = TargetKind::Module, .module = found};
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

bool Program::IsUnread(NameId external) const {
  if (unread.empty()) return false;
  for (std::string_view name = text(external); !name.empty(); name = name.substr(0, name.rfind('.') == std::string_view::npos ? 0 : name.rfind('.'))) {
    const NameId known = names->Find(name);
    if (known && unread.contains(known)) return true;
  }
  return false;
}

}  // namespace allranks::binding
