// The whole program: modules by name, functions and classes by program-wide ids, and what imports, bases and methods
// refer to.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/base/id.h"
#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/source/source_file.h"

namespace allranks::binding {

using base::NameId;
using ir::ModuleId;

// Program-wide.
using FuncId = base::Id<struct FuncTag>;
using ClassId = base::Id<struct ProjectClassTag>;

struct Func {
  ModuleId module = {};
  ir::FunctionId function;
  ClassId owner = {};      // the class whose method it is
  FuncId parent = {};      // the function it is nested in; a module's top level for none-nested ones is none
};

// Classes that bear one symbol are one class, and all ids of it but the first are aliases.
struct ClassInfo {
  ModuleId module = {};
  ir::ClassId ir_class;
  std::vector<ClassId> mro;             // itself first, then project bases
  std::vector<NameId> external_bases;   // qualified names of bases outside the project, of all of the mro
  std::vector<ClassId> subclasses;      // direct and indirect
  std::vector<std::pair<NameId, FuncId>> methods;  // own, in order of definition; a redefinition wins
};

// Where a module-level or class-level name leads.
enum class TargetKind : uint8_t { None, Module, Function, Class, Variable, External };
struct Target {
  TargetKind kind = TargetKind::None;
  ModuleId module = {};   // Module; Variable: the module that owns it
  FuncId function = {};
  ClassId class_id = {};
  NameId name = {};       // External: qualified; Variable: its name in its module
};

struct ModuleInfo {
  std::string path;      // of its file, as given to the pipeline
  std::string dotted;    // "pkg.sub.mod"; scripts outside packages: their stem
  bool is_package = false;
  bool requested = false;  // findings in it are wanted; else it was read only because others import it
  uint64_t content = 0;    // tells states of its text, or of what was read of it, apart
};

struct Program {
  ir::Modules modules;
  base::IdVector<ModuleId, ModuleInfo> infos;
  base::IdVector<FuncId, Func> funcs;
  base::IdVector<ClassId, ClassInfo> classes;
  std::vector<uint32_t> first_func;   // by module: FuncId of its functions[0]; functions of a module are consecutive
  std::vector<uint32_t> first_class;
  base::Interner* names = nullptr;

  FuncId func(ModuleId module, ir::FunctionId function) const {
    return FuncId{first_func[module.index] + function.index};
  }
  ClassId class_of(ModuleId module, ir::ClassId class_id) const {
    const uint32_t index = first_class[module.index] + class_id.index;
    return same_class.empty() ? ClassId{index} : same_class[index];
  }
  const ir::Module& module_of(FuncId id) const { return modules[funcs[id].module]; }
  const ir::Function& function(FuncId id) const { return modules[funcs[id].module].functions[funcs[id].function]; }
  const ir::Class& ir_class(ClassId id) const { return modules[classes[id].module].classes[classes[id].ir_class]; }
  std::string_view text(NameId id) const { return names->View(id); }
  // "Trainer.save", "train.<lambda>": for messages.
  std::string FunctionName(FuncId id) const;

  // A method by name along the mro; none if the class and its project bases lack it.
  FuncId FindMethod(ClassId class_id, NameId name) const;
  // What a call of an object of the class runs: its `__call__`; none if it has none.
  FuncId FindCallMethod(ClassId class_id) const;
  // What `name` means at the top level of a module, imports and stars followed to their end.
  Target Lookup(ModuleId module, NameId name) const;
  // What the n-th import of a module binds (for `import a.b` the binding of `a`).
  Target ImportTarget(ModuleId module, ir::ImportId import) const;
  // A module that was read, by its full dotted name.
  ModuleId FindModule(std::string_view dotted) const;
  // Whether an external name leads into a file of the project that was not read.
  bool IsUnread(NameId external) const;

  // Of a language whose front end resolves names: by symbol. None if the program does not define it.
  // Of several programs in one project each has its own: what the calling module defines comes first, and what several
  // others define is none of them.
  FuncId FindFunction(ModuleId from, NameId symbol) const;
  ClassId FindClass(NameId symbol) const;

  // Filled by Bind.
  std::vector<ClassId> same_class;                             // by ClassId: the first class of the same symbol
  std::unordered_map<NameId, std::vector<FuncId>> functions_by_symbol;
  std::unordered_map<NameId, ClassId> classes_by_symbol;
  std::unordered_map<std::string, ModuleId> by_dotted;
  std::vector<std::unordered_map<NameId, Target>> top_level;   // by module; a Variable of another module: an import
  std::vector<std::vector<ModuleId>> stars;                    // by module: project modules whose names it star-imports
  std::vector<std::vector<NameId>> external_stars;             // by module: `from torch.distributed import *`
  std::vector<std::vector<Target>> import_targets;             // by module, ImportId
  std::unordered_set<NameId> unread;                           // External names that imports bind to files of the project
};

// Which project file, if any, an import reaches; made from paths alone, before anything is parsed.
class ModuleGraph {
 public:
  // `paths`: all Python files of the project, relative to one root, '/' separated, sorted. `roots`: directories
  // from which absolute imports start besides those of the importing file's own ancestors ("" is the project root).
  // `root_name`: of the folder that is the root, by which its files are imported if it is itself a package.
  ModuleGraph(std::vector<std::string> paths, std::vector<std::string> roots, std::string root_name = {});
  // The file that `import dotted` (level 0) or `from ...dotted` (level > 0) of `from_path` reads; "" if outside the
  // project. With `name`, `from dotted import name` that is a submodule gives that submodule's file in `submodule`.
  std::string Resolve(const std::string& from_path, uint32_t level, std::string_view dotted) const;
  std::string DottedName(const std::string& path) const;
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  std::string FileFor(const std::string& base, std::string_view dotted) const;
  std::string FileOfSomeFolder(std::string directory, std::string_view dotted) const;
  std::string FileOfRootPackage(std::string_view dotted) const;
  bool IsPackage(const std::string& directory) const;
  std::vector<std::string> paths_;
  std::unordered_map<std::string, uint32_t> index_;
  std::unordered_map<std::string, bool> directories_;
  std::unordered_map<std::string, std::vector<uint32_t>> ends_;  // by the last two parts of the path
  std::vector<std::string> roots_;
  std::string root_name_;
};

// Binds names across modules. `modules[i]` was lowered from `infos[i].path`.
Program Bind(ir::Modules modules, base::IdVector<ModuleId, ModuleInfo> infos, const ModuleGraph& graph,
             base::Interner& names);

}  // namespace allranks::binding
