// Imports of a file of Python that fail whenever they run, since what they ask for is not there.
//
// These are: a name that a file or a package of the project does not bind, and that is no file in the folder of the package; a relative import
// that leads to no file and no folder, unless others may install the file; a part that a module or package of the project lacks, which all
// scripts that come to the import find first, in their own folder or the nearest above; and in a script that nobody imports a file of the
// project that only stands elsewhere, where nothing tells Python to look there.
//
// What is surely found: by a relative import, by its whole name, or in the same folder; a package by its name only from the script beside
// it, or where the project says that it is installed, since another package of that name may be installed as well. Where a part is missing,
// it is taken that nobody installed another package of the name either, unless the project asks for one. A folder without an `__init__.py` is
// one of several by its name: it counts where no known library has the name, nothing asks for one, and no path is set.
// Nothing is said of files that make names as they run (`exec`, `globals()`, `from x import *` of what was not read), of notebooks, and of
// files with errors of syntax.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/objects/other_files.h"
#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class MissingImports {
 public:
  MissingImports(const binding::Program& program, const knowledge::Knowledge& knowledge, const ProgramIndex& index, const OtherFiles& others)
      : program_(program), knowledge_(knowledge), index_(index), others_(others), neighbourhood_(program) {}

  bool Is(ir::ModuleId module, ir::ImportId import) const;
  // Whether that is so only as scripts are started by their path: the file is there, in a folder where Python does not look then.
  bool HangsOnStart(ir::ModuleId module, ir::ImportId import) const;
  // The file that an import surely reads; none if there is none, or it may be another.
  ir::ModuleId FileOf(ir::ModuleId module, ir::ImportId import) const;
  // The packages around that file, which Python reads first, unless the import stands in one of them.
  std::vector<ir::ModuleId> PackagesAround(ir::ModuleId module, ir::ModuleId found) const;
  // Whether an import surely leads to a file that was found for it.
  bool IsSureOf(ir::ModuleId module, ir::ImportId import, ir::ModuleId found) const;
  // At the top level, to whatever it may be: what is imported from a file that was not read is nothing that is known.
  bool IsBoundIn(ir::ModuleId module, base::NameId name) const { return IsBoundIn(module, name, 0); }
  // Whether all names that a file has are seen in its text, and in that of the files whose names it takes over.
  bool KnowsNamesOf(ir::ModuleId module) const;

 private:
  bool IsBoundIn(ir::ModuleId module, base::NameId name, int depth) const;
  bool IsOnlyScript(ir::ModuleId module) const;
  bool IsOfOneFolder(ir::ModuleId module) const;
  bool KnowsPartsOf(ir::ModuleId package) const;
  bool IsSurePackage(ir::ModuleId module, const ir::Import& import, ir::ModuleId package) const;
  bool IsUnbound(ir::ModuleId module, const ir::Import& import, const binding::Target& target) const;
  bool IsElsewhere(ir::ModuleId module, const ir::Import& import) const;
  bool IsOnlyAbove(ir::ModuleId module, const ir::Import& import, const binding::Target& target) const;
  bool IsMissingPart(ir::ModuleId module, const ir::Import& import) const;
  bool IsMissingFromScripts(ir::ModuleId module, std::string_view dotted) const;
  bool IsMissingFrom(ir::ModuleId script, std::string_view dotted) const;
  bool HasFolderBeside(ir::ModuleId script, std::string_view name) const;
  const std::vector<ir::ModuleId>& ScriptsOf(ir::ModuleId module) const;
  bool IsNameOfProject(std::string_view name) const;
  ir::ModuleId PackageNamed(std::string_view name) const;
  bool MayExtendPath(ir::ModuleId module) const;
  bool NamesPath(ir::ModuleId module) const;
  std::vector<ir::ModuleId> UsersOf(ir::ModuleId module) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const ProgramIndex& index_;
  const OtherFiles& others_;
  const binding::Neighbourhood neighbourhood_;
  mutable std::unordered_map<uint32_t, bool> modules_;  // by ModuleId: whether all names that it has are seen
  mutable std::unordered_map<uint32_t, std::vector<ir::ModuleId>> scripts_;  // by ModuleId: that use it
  mutable std::unordered_map<std::string, bool> missing_;  // by script and name
  mutable std::unordered_set<std::string_view> of_project_;  // names of its files and folders, once they were asked for
};

}  // namespace allranks::objects
