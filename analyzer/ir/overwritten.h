// Stores that nobody else sees. The idea is that of dead store elimination, with other functions as the only readers.
//
// Of a field: `self.flag = mine`, and before the function calls a method of `self`, hands it on or ends, `self.flag = agreed`. Of a variable of
// a file or a class: `flag = mine`, and before any code runs that could look at it, `flag = agreed`; so with the items of a table
// (`settings["main"] = mine`). Where a variable is read by the statements in between, these get what it holds there; functions see it only when
// they are called.
//
// Unsound: a property or another name of the same object may be read in between, and an exception may end the function; what operators,
// properties and iterations of the program's own classes run is not seen, nor is another thread.
#pragma once

#include <cstdint>
#include <functional>
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

// What runs code that may look at variables of the file.
struct Readers {
  std::function<bool(ExprId)> runs;       // asked of calls and of decorators
  std::function<bool(ImportId)> imports;  // the same of an import
};

// The same of a variable: `target` is a name, or an item of one under a text; false for anything else.
bool IsSurelyReplacedUnread(const Module& module, std::span<const Position> path, ExprId target, const Readers& readers);

}  // namespace allranks::ir
