// Python files that no program of the project uses: nobody starts or imports them.
//
//   train.py: from data.loaders import loaders_of         utils/old_loaders.py: nothing speaks of it
//
// A program is a file that a command names, a notebook, a test, or one that does something when it is run. A file of a package that others may
// install is theirs to import. One whose name stands in a text, be it code, settings or a page, may be found by that, as may one below a file
// that imports others by names that it puts together. Where nothing is a program, all files are for others.
//
// What is found in such a file may still be true of it, so that this is a doubt.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/launch_lines.h"
#include "analyzer/objects/other_files.h"
#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class UnusedFiles {
 public:
  UnusedFiles(const binding::Program& program, const ProgramIndex& index, std::span<const LaunchLine> lines, const OtherFiles& others);

  bool Has(ir::ModuleId module) const;

 private:
  bool IsUnused(ir::ModuleId module) const;
  bool IsNamedIn(ir::ModuleId other, std::string_view name) const;
  bool ImportsUnfound(ir::ModuleId other, std::string_view name) const;
  bool MayImport(ir::ModuleId other, ir::ModuleId module) const;

  const binding::Program& program_;
  const ProgramIndex& index_;
  const OtherFiles& others_;
  std::vector<bool> used_;  // by ModuleId, by some program
  bool has_programs_ = false;
  mutable std::unordered_map<uint32_t, bool> unused_;  // by ModuleId
};

}  // namespace allranks::objects
