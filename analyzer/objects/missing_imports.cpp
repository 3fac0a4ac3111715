#include "analyzer/objects/missing_imports.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "analyzer/base/folder.h"
#include "analyzer/objects/main_guard.h"

namespace allranks::objects {
namespace {

// What makes names while the program runs.
constexpr std::string_view kMakeNames[] = {"exec", "execfile", "globals", "vars", "locals", "__builtins__", "builtins", "__builtin__", "__getattr__"};
// What gives a package parts that are no files of its folder, or puts another module in its place.
constexpr std::string_view kMakeParts[] = {"setattr", "__path__", "modules", "__dict__"};

// Python gives each module `__dict__`, `__file__` and others without a line of code.
bool IsOfTheLanguage(std::string_view name) { return name.size() > 4 && name.starts_with("__") && name.ends_with("__"); }

}  // namespace

bool MissingImports::Is(ir::ModuleId module, ir::ImportId import_id) const {
  const ir::Import& import = program_.modules[module].imports[import_id];
  const binding::Target& target = program_.import_targets[module.index][import_id.index];
  if (program_.modules[module].language != ir::Language::Python || program_.infos[module].path.ends_with(".ipynb")) return false;
  if (IsOnlyAbove(module, import, target)) return true;
  if (target.kind == binding::TargetKind::Variable) {
    return target.module != module && !import.star && IsSureOf(module, import_id, target.module) && IsUnbound(module, import, target);
  }
  const bool leads_out = target.kind == binding::TargetKind::External ? !program_.unread.contains(target.name) : import.star && target.kind == binding::TargetKind::None;
  if (!leads_out) return false;
  const std::string_view dotted = program_.text(import.module);
  if (import.level > 0) return (IsOnlyScript(module) || !others_.may_install(module)) && others_.lacks(module, import.level, dotted);
  return IsElsewhere(module, import) || IsMissingPart(module, import) || IsMissingFromScripts(module, import.module ? dotted : program_.text(import.name));
}

bool MissingImports::HangsOnStart(ir::ModuleId module, ir::ImportId import_id) const {
  const ir::Import& import = program_.modules[module].imports[import_id];
  const binding::Target& target = program_.import_targets[module.index][import_id.index];
  return IsOnlyAbove(module, import, target) || (target.kind == binding::TargetKind::External && import.level == 0 && IsElsewhere(module, import));
}

// It is started, and nobody imports it.
bool MissingImports::IsOnlyScript(ir::ModuleId module) const { return MainOf(program_, module) && neighbourhood_.ImportersOf(module).empty(); }

ir::ModuleId MissingImports::FileOf(ir::ModuleId module, ir::ImportId import_id) const {
  const binding::Target& target = program_.import_targets[module.index][import_id.index];
  const bool is_of_project = target.kind == binding::TargetKind::Variable || target.kind == binding::TargetKind::Module;
  if (!is_of_project || target.module == module || program_.infos[module].path.ends_with(".ipynb")) return ir::ModuleId::None();
  return IsSureOf(module, import_id, target.module) ? target.module : ir::ModuleId::None();
}

std::vector<ir::ModuleId> MissingImports::PackagesAround(ir::ModuleId module, ir::ModuleId found) const {
  std::vector<ir::ModuleId> packages;
  const std::string_view dotted = program_.infos[found].dotted;
  for (size_t dot = dotted.find('.'); dot != std::string_view::npos; dot = dotted.find('.', dot + 1)) {
    const ir::ModuleId package = program_.FindModule(dotted.substr(0, dot));
    const std::string_view folder = package ? base::FolderOf(program_.infos[package].path) : std::string_view();
    const bool is_around = package && base::IsBelow(program_.infos[found].path, folder) && !base::IsBelow(program_.infos[module].path, folder);
    if (is_around) packages.push_back(package);
  }
  return packages;
}

bool MissingImports::IsSureOf(ir::ModuleId module, ir::ImportId import_id, ir::ModuleId found) const {
  const ir::Import& import = program_.modules[module].imports[import_id];
  const binding::ModuleInfo& from = program_.infos[found];
  const std::string_view dotted = program_.text(import.module);
  // `from tools import helpers`
  const bool is_part = import.name && from.dotted.size() > dotted.size() && from.dotted.starts_with(dotted) && from.dotted[dotted.size()] == '.' &&
                       std::string_view(from.dotted).substr(dotted.size() + 1) == program_.text(import.name);
  return is_part || import.level > 0 || from.dotted == dotted || (base::FolderOf(from.path) == base::FolderOf(program_.infos[module].path) && IsOfOneFolder(module));
}

// Nobody imports it from another folder: what is beside it may then be no module of its name (`import logging` beside a `logging.py`).
bool MissingImports::IsOfOneFolder(ir::ModuleId module) const {
  const std::string_view folder = base::FolderOf(program_.infos[module].path);
  return std::ranges::all_of(neighbourhood_.ImportersOf(module), [&](ir::ModuleId importer) { return base::FolderOf(program_.infos[importer].path) == folder; });
}

// `from .data import loaders`, where the file binds no such name.
bool MissingImports::IsUnbound(ir::ModuleId module, const ir::Import& import, const binding::Target& target) const {
  if (!KnowsNamesOf(target.module) || IsBoundIn(target.module, target.name)) return false;
  if (!program_.infos[target.module].is_package) return true;
  return IsSurePackage(module, import, target.module) && KnowsPartsOf(target.module) && others_.lacks(target.module, 1, program_.text(target.name));
}

bool MissingImports::IsSurePackage(ir::ModuleId module, const ir::Import& import, ir::ModuleId package) const {
  if (import.level > 0) return true;
  const std::string_view dotted = program_.text(import.module);
  const std::string_view folder = base::FolderOf(program_.infos[package].path);
  const bool is_beside = MainOf(program_, module) && base::FolderOf(folder) == base::FolderOf(program_.infos[module].path);
  if (!is_beside && (!others_.may_install(package) || others_.require(dotted.substr(0, dotted.find('.'))))) return false;
  for (uint32_t i = 0; i < program_.infos.size(); ++i) {
    const ir::ModuleId other{i};
    if (other != package && program_.infos[other].dotted == dotted && IsBoundIn(other, import.name)) return false;
  }
  return true;
}

// All parts of a package are names of its `__init__.py` or lie in its folder.
bool MissingImports::KnowsPartsOf(ir::ModuleId package) const {
  const ir::Module& module = program_.modules[package];
  const auto makes = [&](base::NameId name) { return std::ranges::count(kMakeParts, program_.text(name)) > 0; };
  const auto by_name = [&](ir::ExprId id) { return makes(ir::NameOf(module[id])); };
  const auto by_attribute = [&](ir::ExprId id) { return makes(ir::AttrOf(module[id])); };
  return std::ranges::none_of(index_.ExprsOf(package, ir::ExprKind::Name), by_name) &&
         std::ranges::none_of(index_.ExprsOf(package, ir::ExprKind::Attribute), by_attribute);
}

// `from pair_sets import Pairs` of a script, where only another folder has a `pair_sets.py`, and that one defines `Pairs`. What a script
// imports is looked for in its own folder, in those that are installed, and in those that it or what it imports says. A name of one word is
// too common: Python or a library may have it.
bool MissingImports::IsElsewhere(ir::ModuleId module, const ir::Import& import) const {
  const std::string_view dotted = program_.text(import.module);
  const bool is_own_name = dotted.find('_') != std::string_view::npos && dotted.find('.') == std::string_view::npos;
  if (!import.name || !is_own_name || !IsOnlyScript(module)) return false;
  const std::string ending = "/" + std::string(dotted) + ".py";
  bool is_known = false;
  for (uint32_t i = 0; i < program_.infos.size(); ++i) {
    const ir::ModuleId other{i};
    const auto found = program_.top_level[i].find(import.name);
    if (other == module || !program_.infos[other].path.ends_with(ending) || found == program_.top_level[i].end()) continue;
    const binding::TargetKind kind = found->second.kind;
    if (others_.may_install(other) || (kind != binding::TargetKind::Function && kind != binding::TargetKind::Class)) return false;
    is_known = true;
  }
  if (!is_known || std::ranges::any_of(neighbourhood_.UsedBy(module), [&](ir::ModuleId used) { return MayExtendPath(used); })) return false;
  return others_.lacks(module, 0, dotted) && !others_.require(dotted) && !others_.set_python_path();
}

// `from image_sets import build`, or `from data.image_sets import build`, of a script in a folder, where only a folder above has such a file: Python looks
// beside the script. One that some file names may be started in another way (`python -m tools.train`).
bool MissingImports::IsOnlyAbove(ir::ModuleId module, const ir::Import& import, const binding::Target& target) const {
  const bool is_of_project = target.kind == binding::TargetKind::Variable || target.kind == binding::TargetKind::Module;
  const std::string_view dotted = program_.text(import.module);
  const bool is_own_name = dotted.substr(dotted.rfind('.') + 1).find('_') != std::string_view::npos;
  if (!is_of_project || import.level > 0 || !import.name || !is_own_name || !IsOnlyScript(module)) return false;
  const std::string_view path = program_.infos[module].path;
  const std::string_view folder = base::FolderOf(path);
  std::string_view found = base::FolderOf(program_.infos[target.module].path);
  for (auto dots = std::ranges::count(dotted, '.'); dots > 0; --dots) found = base::FolderOf(found);
  const bool is_installed = others_.may_install(target.module) || others_.require(dotted.substr(0, dotted.find('.')));
  if (found == folder || !base::IsBelow(path, found) || is_installed || others_.set_python_path()) return false;
  if (std::ranges::any_of(neighbourhood_.UsedBy(module), [&](ir::ModuleId used) { return MayExtendPath(used); })) return false;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return !others_.name(module, file.substr(0, file.rfind('.')));
}

// `from megatron.schedules import run` where `from megatron import setup` of the same file finds the project's package, of which nothing says that
// another one is to be installed: no part of it has that name.
bool MissingImports::IsMissingPart(ir::ModuleId module_id, const ir::Import& import) const {
  const std::string_view dotted = program_.text(import.module);
  const size_t dot = dotted.find('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view first = dotted.substr(0, dot);
  const ir::ModuleId package = PackageNamed(first);
  // A copy of a library that another part of the project has beside itself is not meant.
  const std::string_view root = package ? base::FolderOf(base::FolderOf(program_.infos[package].path)) : std::string_view();
  if (!package || !base::IsBelow(program_.infos[module_id].path, root) || !KnowsNamesOf(package) || !KnowsPartsOf(package) || (others_.require(first) && !others_.may_install(package))) return false;
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t i = 0; i < module.imports.size(); ++i) {
    const ir::Import& other = module.imports[ir::ImportId{i}];
    const binding::Target& target = program_.import_targets[module_id.index][i];
    const std::string_view from = program_.text(other.module);
    const bool is_of_package = from.starts_with(first) && (from.size() == first.size() || from[first.size()] == '.');
    if (other.level == 0 && other.name && is_of_package && target.kind != binding::TargetKind::External) return others_.lacks(package, 1, dotted.substr(dot + 1));
  }
  return false;
}

// `from models.heads import build`, where `models` lies beside each script that comes here, or in the nearest folder above it that has one, and
// has no `heads`. What a script imports is looked for in its own folder first.
bool MissingImports::IsMissingFromScripts(ir::ModuleId module, std::string_view dotted) const {
  if (dotted.find('.') == std::string_view::npos || !IsNameOfProject(dotted.substr(0, dotted.find('.')))) return false;
  const std::vector<ir::ModuleId>& scripts = ScriptsOf(module);
  return !scripts.empty() && std::ranges::all_of(scripts, [&](ir::ModuleId script) {
    const auto [known, is_new] = missing_.try_emplace(std::to_string(script.index) + " " + std::string(dotted), false);
    if (is_new) known->second = IsMissingFrom(script, dotted);
    return known->second;
  });
}

bool MissingImports::IsMissingFrom(ir::ModuleId script, std::string_view dotted) const {
  const std::string_view first = dotted.substr(0, dotted.find('.'));
  const std::string_view path = program_.infos[script].path;
  // A file with the name of the library that it uses: started by its path it finds itself, and as a part of a package it does not.
  if (path.substr(path.rfind('/') + 1) == std::string(first) + ".py") return false;
  uint32_t found = 0, level = 1;
  for (std::string_view folder = path; !folder.empty(); ++level) {
    folder = base::FolderOf(folder);
    if (!others_.lacks(script, level, dotted)) return false;
    if (found == 0 && others_.hold(script, level, first)) found = level;
  }
  // Above, or of a folder that is no package, another one may be found before: of a path that is set, or an installed one.
  const bool is_beside = found == 1;
  if (found == 0 && !HasFolderBeside(script, first)) return false;
  if (!is_beside && (others_.require(first) || others_.set_python_path())) return false;
  return std::ranges::none_of(neighbourhood_.UsedBy(script), [&](ir::ModuleId used) { return is_beside ? NamesPath(used) : MayExtendPath(used); });
}

// `src/train.py` beside the script, where no `src/__init__.py` is.
bool MissingImports::HasFolderBeside(ir::ModuleId script, std::string_view name) const {
  const base::NameId known = program_.names->Find(name);
  if (known && knowledge_.IsKnownModule(known)) return false;
  const std::string_view beside = base::FolderOf(program_.infos[script].path);
  const std::string folder = (beside.empty() ? std::string() : std::string(beside) + "/") + std::string(name);
  for (uint32_t i = 0; i < program_.infos.size(); ++i) {
    if (base::IsBelow(program_.infos[ir::ModuleId{i}].path, folder)) return true;
  }
  return false;
}

const std::vector<ir::ModuleId>& MissingImports::ScriptsOf(ir::ModuleId module) const {
  const auto [known, is_new] = scripts_.try_emplace(module.index);
  if (is_new) {
    known->second = UsersOf(module);
    std::erase_if(known->second, [&](ir::ModuleId user) { return !IsStartedByHand(program_, neighbourhood_, user) || program_.infos[user].path.ends_with(".ipynb"); });
  }
  return known->second;
}

// Python reads a package before each of its parts.
std::vector<ir::ModuleId> MissingImports::UsersOf(ir::ModuleId module) const {
  std::vector<ir::ModuleId> users = neighbourhood_.UsersOf(module);
  if (!program_.infos[module].is_package) return users;
  const std::string_view folder = base::FolderOf(program_.infos[module].path);
  for (uint32_t i = 0; i < program_.infos.size(); ++i) {
    if (folder.empty() || !base::IsBelow(program_.infos[ir::ModuleId{i}].path, folder)) continue;
    const std::vector<ir::ModuleId> of_part = neighbourhood_.UsersOf(ir::ModuleId{i});
    users.insert(users.end(), of_part.begin(), of_part.end());
  }
  return users;
}

// Of a file or a folder.
bool MissingImports::IsNameOfProject(std::string_view name) const {
  if (of_project_.empty()) {
    for (const binding::ModuleInfo& info : program_.infos) {
      for (std::string_view path = info.path; !path.empty(); path = base::FolderOf(path)) {
        const std::string_view last = path.substr(path.rfind('/') + 1);
        of_project_.insert(last.substr(0, last.find('.')));
      }
    }
  }
  return of_project_.contains(name);
}

// The only one of the project that is imported by this name; none if there are several.
ir::ModuleId MissingImports::PackageNamed(std::string_view name) const {
  ir::ModuleId found;
  for (uint32_t i = 0; i < program_.infos.size(); ++i) {
    const ir::ModuleId id{i};
    if (!program_.infos[id].is_package || program_.infos[id].dotted != name) continue;
    if (found) return ir::ModuleId::None();
    found = id;
  }
  return found;
}

// It speaks of Python's path, or imports what was not read, and may do so.
bool MissingImports::MayExtendPath(ir::ModuleId id) const {
  const auto& targets = program_.import_targets[id.index];
  return NamesPath(id) || std::ranges::any_of(targets, [&](const binding::Target& target) {
    return target.kind == binding::TargetKind::External && program_.unread.contains(target.name);
  });
}

// `sys.path.append("..")`
bool MissingImports::NamesPath(ir::ModuleId id) const {
  const ir::Module& module = program_.modules[id];
  for (const ir::Import& import : module.imports) {
    const std::string_view from = program_.text(import.module);
    if (from == "site" || (from == "sys" && import.name && program_.text(import.name) == "path")) return true;
  }
  const base::NameId path = program_.names->Find("path");
  return std::ranges::any_of(index_.ExprsOf(id, ir::ExprKind::Attribute), [&](ir::ExprId expr) {
    if (ir::AttrOf(module[expr]) != path) return false;
    const ir::Expr& object = module[ir::ObjectOf(module[expr])];
    return object.kind == ir::ExprKind::Name && program_.text(ir::NameOf(object)) == "sys";
  });
}

bool MissingImports::IsBoundIn(ir::ModuleId module, base::NameId name, int depth) const {
  constexpr int kMostStars = 4;
  if (depth > kMostStars || IsOfTheLanguage(program_.text(name)) || program_.top_level[module.index].contains(name)) return true;
  return std::ranges::any_of(program_.stars[module.index], [&](ir::ModuleId star) { return IsBoundIn(star, name, depth + 1); });
}

bool MissingImports::KnowsNamesOf(ir::ModuleId id) const {
  const auto [known, is_new] = modules_.try_emplace(id.index, true);
  if (!is_new) return known->second;
  const ir::Module& module = program_.modules[id];
  bool knows = module.language == ir::Language::Python && module.problems.empty() && program_.external_stars[id.index].empty() &&
               !program_.infos[id].path.ends_with(".ipynb");
  for (const std::string_view maker : kMakeNames) {
    const base::NameId name = program_.names->Find(maker);
    if (!name) continue;
    const auto names_it = [&](ir::ExprId expr) { return ir::NameOf(module[expr]) == name; };
    knows = knows && std::ranges::none_of(index_.ExprsOf(id, ir::ExprKind::Name), names_it) &&
            program_.top_level[id.index].find(name) == program_.top_level[id.index].end();
  }
  knows = knows && std::ranges::all_of(program_.stars[id.index], [&](ir::ModuleId star) { return star == id || KnowsNamesOf(star); });
  modules_[id.index] = knows;
  return knows;
}

}  // namespace allranks::objects
