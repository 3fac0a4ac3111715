// Files that no program of the project reads: nobody imports them, starts them or names them, while programs read others that lie beside them.
//
//   trainers/__init__.py: from .plain import Trainer      trainers/old_trainer.py: nothing leads here
//
// Such a file is mostly a variant that was given up, or one that was never finished. It is no file of a library, for others to import: nothing
// says that its folder is installed. Unsound where a file is imported by a name that is put together; then nothing is said of any.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/other_files.h"
#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class LeftBehind {
 public:
  LeftBehind(const binding::Program& program, const ProgramIndex& index, OtherFiles others)
      : program_(program), index_(index), others_(std::move(others)), neighbourhood_(program) {}

  bool Is(ir::ModuleId module) const;

 private:
  bool IsFound(ir::ModuleId module) const;
  bool IsReadBeside(ir::ModuleId module) const;
  bool IsNamed(std::string_view name) const;
  bool ImportsByText() const;

  const binding::Program& program_;
  const ProgramIndex& index_;
  const OtherFiles others_;
  const binding::Neighbourhood neighbourhood_;
  mutable std::unordered_map<uint32_t, bool> known_;  // by ModuleId
  mutable std::optional<bool> imports_by_text_;       // once it was asked for
};

}  // namespace allranks::objects
