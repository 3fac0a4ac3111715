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

namespace {

constexpr int kLongestChain = 24;

// Follows a name from module to module: re-exports step by step, stars in their order. A name of a module that was asked for
// before on the way adds nothing: imports may go in circles.
class NameSearch {
 public:
  explicit NameSearch(const Program& program) : program_(program) {}

  Target Find(ModuleId module, NameId name, int depth = 0) {
    const std::pair asked{module, name};
    if (depth == kLongestChain || std::ranges::find(asked_, asked) != asked_.end()) return {};
    asked_.push_back(asked);
    if (const auto found = program_.top_level[module.index].find(name); found != program_.top_level[module.index].end()) {
      const Target& target = found->second;
      return target.kind != TargetKind::Variable || target.module == module ? target : Find(target.module, target.name, depth + 1);
    }
    const Target starred = FindAlongStars(module, name, depth);
    return starred.kind != TargetKind::None ? starred : Submodule(module, name);
  }

 private:
  Target FindAlongStars(ModuleId module, NameId name, int depth) {
    for (const ModuleId star : program_.stars[module.index]) {
      const Target target = Find(star, name, depth + 1);
      // Of the modules below a package those that it has imported.
      const bool is_bound = target.kind != TargetKind::Module || program_.top_level[star.index].contains(name);
      if (target.kind != TargetKind::None && is_bound) return target;
    }
    return {};
  }

  Target Submodule(ModuleId package, NameId name) const {
    const ModuleInfo& info = program_.infos[package];
    if (!info.is_package) return {};
    const ModuleId found = program_.FindModule(info.dotted + "." + std::string(program_.text(name)));
    return found ? Target{.kind = TargetKind::Module, .module = found} : Target{};
  }

  const Program& program_;
  std::vector<std::pair<ModuleId, NameId>> asked_;  // few: the files that a name passes through
};

}  // namespace

Target Program::Lookup(ModuleId module, NameId name) const { return NameSearch(*this).Find(module, name); }

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
