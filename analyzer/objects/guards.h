// The tests on the way to a place, as they are written in its function: branches around it, earlier ones that leave, what stands before
// it in an expression. What they come out as, and on which rank, others say (rank_tests.h).
#pragma once

#include <vector>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

// A test that must come out so for a place to be reached.
struct Guard {
  FuncId function;
  ir::ExprId test;
  bool holds = true;
};

// A branch that some leave the function or the loop in: who stays is asked only of those that `outer` lets into it.
struct NestedExit {
  Guard outer, stays;
};

class Guards {
 public:
  Guards(const binding::Program& program, const ProgramIndex& index) : program_(program), index_(index) {}

  // Branches around a place, earlier ones that leave the function or the loop, the operands of `and`, `or` and conditional expressions
  // before it.
  std::vector<Guard> Of(const Site& site) const;
  // Those around and before a statement.
  std::vector<Guard> Of(FuncId function, ir::StmtId stmt) const;
  // The tests of the `assert` statements that stand before a statement, in its block and the blocks around it.
  std::vector<Guard> AssertionsBefore(FuncId function, ir::StmtId stmt) const;
  // `if world_size > 1: gather(x); if rank != 0: return` before the place.
  std::vector<NestedExit> NestedExitsBefore(const Site& site) const;
  // What the loops around a place go through, or ask before each round: `for hook in [Saver()] if rank == 0 else []`.
  std::vector<Guard> LoopsAround(const Site& site) const;

 private:
  void AddOfExpression(const Site& site, std::vector<Guard>& guards) const;
  void AddOfStatement(FuncId function, ir::StmtId stmt, std::vector<Guard>& guards) const;
  void AddEarlierExits(FuncId function, ir::StmtId stmt, std::vector<Guard>& guards) const;

  const binding::Program& program_;
  const ProgramIndex& index_;
};

}  // namespace allranks::objects
