// Which commands of a Python program go on while it runs further: `subprocess.Popen(...)` whose end nobody waits for right away.
//
// Two of them run side by side if they stand in one function and nothing between them waits for a process. Only statements that
// stand right in the body of a function, or of the module, are looked at: what a loop or a branch starts may run once or not at all.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"

namespace allranks::launch_files {

class PythonBackground {
 public:
  PythonBackground(const ir::Module& module, const base::Interner& names);

  // Of a call of `Popen`: whether what comes behind it runs beside it.
  bool GoesOn(ir::ExprId call) const { return plain_.contains(call.index); }
  // Commands that may run side by side have the same number.
  uint32_t SectionOf(ir::ExprId call) const;

 private:
  void NotePlain(ir::ExprId value);
  std::string_view MethodOf(ir::ExprId call) const;

  const ir::Module& module_;
  const base::Interner& names_;
  std::set<uint32_t> plain_;        // calls that are a statement, are assigned, or are appended to a list
  std::vector<uint32_t> borders_;   // where another section begins, sorted
};

}  // namespace allranks::launch_files
