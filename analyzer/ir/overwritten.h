// Stores that nobody else sees: `self.flag = mine`, and before the function calls a method of `self`, hands it on or
// ends, `self.flag = agreed`. The idea is that of dead store elimination, with other functions as the only readers.
//
// Unsound: a property or another name of the same object may be read in between, and an exception may end the function.
#pragma once

#include <cstdint>
#include <span>

#include "analyzer/ir/program.h"

namespace allranks::ir {

// A statement as a position in its block. A row of them, the outermost first, leads to a statement.
struct Position {
  BlockId block;
  uint32_t index = 0;
};

// Whether what the statement at the end of `path` stores in `target` (`name.attr`; false for anything else) is surely
// replaced in the same function before anybody else can read it. The answer is false out of loops and `try`: there the
// statements that follow are not surely the next ones.
bool IsSurelyReplaced(const Module& module, std::span<const Position> path, ExprId target);

}  // namespace allranks::ir
