// Binds names across modules: numbers all functions and classes, follows imports, resolves base classes.
#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "analyzer/binding/added_folders.h"
#include "analyzer/binding/program.h"
#include "analyzer/ir/bindings.h"

namespace allranks::binding {
namespace {

class Binder {
 public:
  Binder(Program& program, const ModuleGraph& graph) : program_(program), graph_(graph) {}

  void Run() {
    NumberFunctions();
    NameNamespaces();
    for (uint32_t i = 0; i < program_.modules.size(); ++i) IndexModule(ModuleId{i});
    for (uint32_t i = 0; i < program_.modules.size(); ++i) BindImports(ModuleId{i});
    for (uint32_t i = 0; i < program_.modules.size(); ++i) BindTopLevel(ModuleId{i});
    for (uint32_t i = 0; i < program_.classes.size(); ++i) ResolveBases(ClassId{i});
    seen_from_.resize(program_.classes.size());
    for (uint32_t i = 0; i < program_.classes.size(); ++i) Linearise(ClassId{i});
    ListSubclasses();
  }

 private:
  using Names = std::unordered_map<NameId, Target>;

  void NumberFunctions() {
    for (uint32_t m = 0; m < program_.modules.size(); ++m) {
      const ir::Module& module = program_.modules[ModuleId{m}];
      program_.first_func.push_back(static_cast<uint32_t>(program_.funcs.size()));
      program_.first_class.push_back(static_cast<uint32_t>(program_.classes.size()));
      for (uint32_t f = 0; f < module.functions.size(); ++f) {
        const ir::Function& function = module.functions[ir::FunctionId{f}];
        Func func{.module = ModuleId{m}, .function = ir::FunctionId{f}, .owner = {}, .parent = {}};
        if (function.parent && function.parent != ir::kTopLevel) {
          func.parent = FuncId{program_.first_func[m] + function.parent.index};
        }
        program_.funcs.Add(func);
      }
      for (uint32_t c = 0; c < module.classes.size(); ++c) {
        const ClassId id = program_.classes.Add({.module = ModuleId{m}, .ir_class = ir::ClassId{c}, .mro = {},
                                                 .external_bases = {}, .subclasses = {}, .methods = {}});
        const NameId symbol = module.classes[ir::ClassId{c}].symbol;
        program_.same_class.push_back(symbol ? program_.classes_by_symbol.try_emplace(symbol, id).first->second : id);
      }
      for (uint32_t f = 0; f < module.functions.size(); ++f) {
        const ir::Function& function = module.functions[ir::FunctionId{f}];
        const FuncId id = program_.func(ModuleId{m}, ir::FunctionId{f});
        if (function.owner) program_.funcs[id].owner = program_.class_of(ModuleId{m}, function.owner);
        // One whose body another module has is not it.
        if (function.symbol && function.body) program_.functions_by_symbol[function.symbol].push_back(id);
        if (!function.owner || !function.name) continue;
        program_.classes[program_.class_of(ModuleId{m}, function.owner)].methods.emplace_back(
            function.name, program_.func(ModuleId{m}, ir::FunctionId{f}));
      }
    }
  }

  // A folder without `__init__.py` is a part of the names of what lies in it if somebody imports it so:
  // `from megatron.core import parallel_state`. Of several such names the one that most imports use.
  void NameNamespaces() {
    // By folder of the outermost package: how often each prefix is used.
    std::map<std::string, std::map<std::string, size_t>> uses;
    for (uint32_t m = 0; m < program_.modules.size(); ++m) {
      const ir::Module& module = program_.modules[ModuleId{m}];
      for (const ir::Import& import : module.imports) {
        if (import.level > 0 || !import.module) continue;
        const std::string written(program_.text(import.module));
        const std::string path = graph_.Resolve(program_.infos[ModuleId{m}].path, 0, written);
        if (path.empty()) continue;
        const std::string own = graph_.DottedName(path);
        if (written.size() <= own.size() + 1 || !written.ends_with("." + own)) continue;
        ++uses[FolderAround(path, own)][written.substr(0, written.size() - own.size() - 1)];
      }
    }
    for (uint32_t m = 0; m < program_.modules.size(); ++m) {
      ModuleInfo& info = program_.infos[ModuleId{m}];
      if (program_.modules[ModuleId{m}].language != ir::Language::Python) continue;
      info.dotted = graph_.DottedName(info.path);
      const auto known = uses.find(FolderAround(info.path, info.dotted));
      if (known == uses.end()) continue;
      const auto most = std::ranges::max_element(known->second, {}, [](const auto& use) { return use.second; });
      info.dotted = most->first + "." + info.dotted;
    }
  }

  // The folder that the first part of a module's dotted name lies in.
  static std::string FolderAround(const std::string& path, const std::string& dotted) {
    std::string folder = path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    const bool is_package = path.ends_with("/__init__.py");
    const auto parts = static_cast<size_t>(std::ranges::count(dotted, '.')) + (is_package ? 1 : 0);
    for (size_t i = 0; i < parts; ++i) folder = folder.substr(0, folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/'));
    return folder;
  }

  void IndexModule(ModuleId id) {
    by_path_.emplace(program_.infos[id].path, id);
    // Of several scripts with one name the first stays; they are reached by path anyway.
    program_.by_dotted.emplace(program_.infos[id].dotted, id);
  }

  std::string PackageOf(ModuleId id, uint32_t level) const {
    std::string dotted = program_.infos[id].dotted;
    for (uint32_t i = program_.infos[id].is_package ? 1 : 0; i < level; ++i) {
      const size_t dot = dotted.rfind('.');
      dotted = dot == std::string::npos ? std::string() : dotted.substr(0, dot);
    }
    return dotted;
  }

  std::string FullName(ModuleId id, const ir::Import& import) const {
    const std::string written(program_.text(import.module));
    if (import.level == 0) return written;
    const std::string package = PackageOf(id, import.level);
    if (package.empty()) return written;
    return written.empty() ? package : package + "." + written;
  }

  // The file of the project that an import leads to; empty: it leads out of it.
  std::string PathOf(ModuleId from, uint32_t level, std::string_view dotted) {
    const std::string& path = program_.infos[from].path;
    std::string file = graph_.Resolve(path, level, dotted);
    if (!file.empty() || level > 0) return file;
    const auto [added, is_new] = added_.try_emplace(from.index);
    if (is_new) added->second = FoldersAddedBy(program_.modules[from], *program_.names);
    return FileInAddedFolder(graph_, path, added->second, dotted);
  }

  ModuleId ReadModule(const std::string& path) const {
    const auto found = path.empty() ? by_path_.end() : by_path_.find(path);
    return found == by_path_.end() ? ModuleId::None() : found->second;
  }

  Target TargetOf(ModuleId id, const ir::Import& import) {
    const std::string written(program_.text(import.module));
    const std::string full = FullName(id, import);
    if (!import.name && !import.star) {
      // `import a.b` binds a; `import a.b as c` binds the module a.b.
      const std::string bound = import.as_name ? written : written.substr(0, written.find('.'));
      const std::string path = PathOf(id, 0, bound);
      if (const ModuleId module = ReadModule(path)) return {.kind = TargetKind::Module, .module = module};
      return ExternalTarget(bound, path);
    }
    const std::string path = PathOf(id, import.level, written);
    const ModuleId module = ReadModule(path);
    if (import.star) return module ? Target{.kind = TargetKind::Module, .module = module} : Target{};
    const std::string name(program_.text(import.name));
    const std::string as_submodule = written.empty() ? name : written + "." + name;
    if (module && module != id) return {.kind = TargetKind::Variable, .module = module, .name = import.name};
    if (const ModuleId submodule = ReadModule(PathOf(id, import.level, as_submodule))) {
      return {.kind = TargetKind::Module, .module = submodule};
    }
    return ExternalTarget(full.empty() ? name : full + "." + name, path);
  }

  // `path`: the file of the project that the name leads to, which was not read; empty: it leads out of it.
  Target ExternalTarget(const std::string& full_name, const std::string& path) {
    const base::NameId name = program_.names->Intern(full_name);
    if (!path.empty()) program_.unread.insert(name);
    return {.kind = TargetKind::External, .name = name};
  }

  void BindImports(ModuleId id) {
    const ir::Module& module = program_.modules[id];
    auto& targets = program_.import_targets.emplace_back();
    auto& stars = program_.stars.emplace_back();
    auto& external_stars = program_.external_stars.emplace_back();
    for (const ir::Import& import : module.imports) {
      const Target target = TargetOf(id, import);
      targets.push_back(target);
      if (!import.star) continue;
      if (target.kind == TargetKind::Module) stars.push_back(target.module);
      else external_stars.push_back(program_.names->Intern(FullName(id, import)));
    }
  }

  // Definitions and imports win over assignments (`x = None` beside a guarded import); of equals the last.
  void Define(ModuleId id, NameId name, const Target& target) {
    if (!name) return;
    auto& table = program_.top_level[id.index];
    const auto [it, added] = table.emplace(name, target);
    if (added) return;
    const bool is_assignment = target.kind == TargetKind::Variable && target.module == id;
    if (!is_assignment) it->second = target;
  }

  void BindTopLevel(ModuleId id) {
    program_.top_level.emplace_back();
    const ir::Module& module = program_.modules[id];
    ir::ForEachBindingIn(module, module.functions[ir::kTopLevel].body,
                         [&](const ir::Binding& binding) { BindName(id, binding); });
    BindDeclared(id);
  }

  // `global args` in a function: the variable is the module's, even if nothing assigns it at the top level.
  void BindDeclared(ModuleId id) {
    const ir::Module& module = program_.modules[id];
    for (const ir::Stmt& stmt : module.stmts) {
      if (stmt.kind != ir::StmtKind::Global) continue;
      for (uint32_t i = 0; i < stmt.c; ++i) {
        const NameId name{module.words[stmt.a + i]};
        program_.top_level[id.index].try_emplace(name, Target{.kind = TargetKind::Variable, .module = id, .name = name});
      }
    }
  }

  void BindName(ModuleId id, const ir::Binding& binding) {
    if (binding.import) {
      BindImport(id, binding.import);
    } else if (binding.function) {
      Define(id, binding.name, {.kind = TargetKind::Function, .function = program_.func(id, binding.function)});
    } else if (binding.class_id) {
      Define(id, binding.name, {.kind = TargetKind::Class, .class_id = program_.class_of(id, binding.class_id)});
    } else {
      Define(id, binding.name, {.kind = TargetKind::Variable, .module = id, .name = binding.name});
    }
  }

  void BindImport(ModuleId id, ir::ImportId import_id) {
    const ir::Import& import = program_.modules[id].imports[import_id];
    const Target& target = program_.import_targets[id.index][import_id.index];
    Define(id, ir::BoundName(import, *program_.names), target);
  }

  // A dotted expression in a function or at module level: `Base`, `module.Base`, `Generic[T]`.
  Target Resolve(ModuleId id, ir::FunctionId function, ir::ExprId expr) {
    const ir::Module& module = program_.modules[id];
    const ir::Expr& node = module[expr];
    if (node.kind == ir::ExprKind::Name && (node.flags & ir::kResolvedName) != 0) {
      const ClassId known = program_.FindClass(ir::SymbolOf(node));
      if (known) return {.kind = TargetKind::Class, .class_id = known};
      return {.kind = TargetKind::External, .name = ir::NameOf(node)};
    }
    switch (node.kind) {
      case ir::ExprKind::Name:
        return ResolveName(id, function, ir::NameOf(node));
      case ir::ExprKind::Subscript:
        return Resolve(id, function, ir::ObjectOf(node));
      case ir::ExprKind::Attribute: {
        const Target object = Resolve(id, function, ir::ObjectOf(node));
        if (object.kind == TargetKind::Module) {
          const Target member = program_.Lookup(object.module, ir::AttrOf(node));
          if (member.kind != TargetKind::None) return member;
          const std::string name =
              program_.infos[object.module].dotted + "." + std::string(program_.text(ir::AttrOf(node)));
          return {.kind = TargetKind::External, .name = program_.names->Intern(name)};
        }
        if (object.kind == TargetKind::External) {
          const std::string name =
              std::string(program_.text(object.name)) + "." + std::string(program_.text(ir::AttrOf(node)));
          return {.kind = TargetKind::External, .name = program_.names->Intern(name)};
        }
        return {};
      }
      default:
        return {};
    }
  }

  // Names of functions around win over those of the module.
  Target Find(ModuleId id, ir::FunctionId function, NameId name) {
    for (; function && function != ir::kTopLevel; function = program_.modules[id].functions[function].parent) {
      const Names& names = NamesIn(id, function);
      if (const auto own = names.find(name); own != names.end()) return own->second;
    }
    return program_.Lookup(id, name);
  }

  Target ResolveName(ModuleId id, ir::FunctionId function, NameId name) {
    const Target target = Find(id, function, name);
    if (target.kind != TargetKind::Variable || target.module == id) return target;
    return {.kind = TargetKind::External, .name = program_.names->Intern(program_.infos[target.module].dotted + "." +
                                                                        std::string(program_.text(target.name)))};
  }

  // What a function binds itself: classes and what it imports are known, of all else only that it hides what is around.
  const Names& NamesIn(ModuleId id, ir::FunctionId function) {
    const auto [it, is_new] = local_names_.try_emplace(program_.func(id, function).index);
    Names& names = it->second;
    if (!is_new) return names;
    const ir::Module& module = program_.modules[id];
    for (const ir::Param& param : module.functions[function].params) names.emplace(param.name, Target{});
    ir::ForEachBindingIn(module, module.functions[function].body, [&](const ir::Binding& binding) {
      if (binding.import) {
        names[ir::BoundName(module.imports[binding.import], *program_.names)] = program_.import_targets[id.index][binding.import.index];
      } else if (binding.class_id) {
        names[binding.name] = {.kind = TargetKind::Class, .class_id = program_.class_of(id, binding.class_id)};
      } else {
        names.emplace(binding.name, Target{});
      }
    });
    return names;
  }

  void ResolveBases(ClassId id) {
    const ClassInfo& info = program_.classes[id];
    auto& bases = direct_bases_.emplace_back();
    auto& external = direct_external_.emplace_back();
    for (const ir::Arg& base : program_.ir_class(id).bases) {
      if (base.kind != ir::ArgKind::Positional) continue;
      const Target target = Resolve(info.module, program_.ir_class(id).parent, base.value);
      if (target.kind == TargetKind::Class && target.class_id != id) bases.push_back(target.class_id);
      if (target.kind == TargetKind::External) external.push_back(target.name);
    }
  }

  // People derive ten deep. A chain of n classes would take n * n entries.
  static constexpr size_t kMostBases = 1000;

  // Once a file.
  void NoteTooManyBases(ClassId id) {
    const ClassInfo& info = program_.classes[id];
    std::vector<ir::Problem>& problems = program_.modules[info.module].problems;
    const std::string text = "class with more than " + std::to_string(kMostBases) + " bases";
    if (std::ranges::any_of(problems, [&](const ir::Problem& problem) { return problem.text == text; })) return;
    const ir::Class& definition = program_.ir_class(id);
    problems.push_back({.kind = ir::ProblemKind::Limit, .text = text, .begin = definition.name_begin, .end = definition.name_end});
  }

  // Depth first, left to right, each class once, at its last place: Python's order for all but odd diamonds.
  void Linearise(ClassId id) {
    std::vector<ClassId> order;
    std::vector<ClassId> stack = {id};
    while (!stack.empty()) {
      const ClassId at = stack.back();
      stack.pop_back();
      if (std::exchange(seen_from_[at.index], id) == id) continue;
      if (order.size() == kMostBases) {
        NoteTooManyBases(id);
        break;
      }
      order.push_back(at);
      const auto& bases = direct_bases_[at.index];
      for (auto it = bases.rbegin(); it != bases.rend(); ++it) stack.push_back(*it);
    }
    ClassInfo& info = program_.classes[id];
    std::unordered_set<NameId> named;
    for (const ClassId base : order) {
      for (const NameId name : direct_external_[base.index]) {
        if (named.insert(name).second) info.external_bases.push_back(name);
      }
    }
    info.mro = std::move(order);
  }

  void ListSubclasses() {
    for (uint32_t i = 0; i < program_.classes.size(); ++i) {
      const std::vector<ClassId> mro = program_.classes[ClassId{i}].mro;
      for (size_t b = 1; b < mro.size(); ++b) program_.classes[mro[b]].subclasses.push_back(ClassId{i});
    }
  }

  Program& program_;
  const ModuleGraph& graph_;
  std::unordered_map<uint32_t, Names> local_names_;   // by FuncId
  std::unordered_map<std::string, ModuleId> by_path_;
  std::unordered_map<uint32_t, std::vector<AddedFolder>> added_;  // by ModuleId, of files that import what is found nowhere else
  std::vector<std::vector<ClassId>> direct_bases_;
  std::vector<std::vector<NameId>> direct_external_;
  std::vector<ClassId> seen_from_;   // by ClassId: from which class it was come by last, while that one is put in order
};

}  // namespace

Program Bind(ir::Modules modules, base::IdVector<ModuleId, ModuleInfo> infos, const ModuleGraph& graph,
             base::Interner& names) {
  Program program;
  program.modules = std::move(modules);
  program.infos = std::move(infos);
  program.names = &names;
  Binder(program, graph).Run();
  return program;
}

}  // namespace allranks::binding
