// Which functions the files of a program come to, by the names that stand in them.
//
// A plain function is come to if a function that is, or a decorator or the default of a parameter, names it, as a name or an attribute, in its own
// file or in one that imports that; methods, functions within others and decorated ones always are. Unsound where a name is put together.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class NamedFunctions {
 public:
  NamedFunctions(const binding::Program& program, const ProgramIndex& index, const binding::Neighbourhood& neighbourhood);

  // By FuncId. `files`: with all that they import.
  std::vector<bool> ReachedIn(std::span<const ir::ModuleId> files) const;

 private:
  void AddNames(const binding::Neighbourhood& neighbourhood, ir::ModuleId module,
                const std::unordered_map<base::NameId, std::vector<FuncId>>& by_name);

  const binding::Program& program_;
  const ProgramIndex& index_;
  std::vector<std::vector<FuncId>> names_;   // by FuncId: plain functions that it names or calls
  std::vector<std::vector<FuncId>> always_;  // by ModuleId: functions that are always come to, and those that are named in none
};

}  // namespace allranks::objects
