// Stores that no other function sees. The idea is that of dead store elimination, with other functions as the only readers.
//
// For a field: `self.flag = mine`, and then `self.flag = agreed` before the function calls a method of `self`, passes it on or ends. For a
// variable of a file or a class: `flag = mine`, and then `flag = agreed` before any code runs that could read it. The same goes for the items
// of a table (`settings["main"] = mine`). Statements in between that read the variable get the value it holds there. Functions see it only when
// they are called.
//
// Unsound: a property or another name of the same object may be read in between, and an exception may end the function. Code that operators,
// properties and iterations of the program's own classes run is not seen, and neither is another thread.
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
