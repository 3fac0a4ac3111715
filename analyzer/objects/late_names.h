// Names of Python that are read before anything binds them: `test(model, epoch)` in front of `for epoch in range(epochs)`.
//
// The scope binds the name, and each statement that does stands behind the read, not in a round of a loop before. Names of a function are its
// own; those at the top of a file must be none of Python's, and none that a function may set by `global`.
//
// Nothing is said of names that an expression or a nested function binds (`:=`, `nonlocal`).
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class LateNames {
 public:
  LateNames(const binding::Program& program, const ProgramIndex& index) : program_(program), index_(index) {}

  // Whether the name that an expression of a statement reads is one. Of the top level: of names that are not Python's own.
  bool IsReadBy(FuncId function, ir::StmtId stmt, ir::ExprId name) const;

 private:
  // Where the scope binds a name, in order; none for names that something else may bind.
  using Bound = std::unordered_map<base::NameId, std::vector<ir::StmtId>>;
  const Bound& BoundIn(FuncId function) const;
  Bound Read(FuncId function) const;
  // Names that some function of the file says are `global` or `nonlocal`.
  const std::unordered_set<base::NameId>& DeclaredIn(ir::ModuleId module) const;
  bool ComesFirstInLoops(FuncId function, ir::StmtId stmt, std::span<const ir::StmtId> bound) const;

  const binding::Program& program_;
  const ProgramIndex& index_;
  mutable std::unordered_map<uint32_t, Bound> scopes_;  // by FuncId
  mutable std::unordered_map<uint32_t, std::unordered_set<base::NameId>> declared_;  // by ModuleId
};

}  // namespace allranks::objects
