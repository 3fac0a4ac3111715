// Stores of a file's or a class's own variables that nobody reads: `flag = mine`, and before any code runs that could look at it,
// `flag = agreed`. So with the items of a table: `settings["main"] = mine`. Where a name is read by the statements in between, these get
// what it holds there; functions see it only when they are called.
//
// Unsound: what operators, properties and iterations of the program's own classes run is not seen, nor is another thread.
#pragma once

#include <functional>
#include <span>

#include "analyzer/ir/overwritten.h"

namespace allranks::ir {

// Whether an expression runs code that may look at variables of the file. Asked of calls and of decorators.
using RunsOthers = std::function<bool(ExprId)>;
// The same of an import statement.
using ImportRunsOthers = std::function<bool(ImportId)>;

struct Readers {
  RunsOthers runs;
  ImportRunsOthers imports;
};

// Whether what the statement at the end of `path` stores in `target` (a name, or an item of one under a text; false for anything else) is
// surely replaced before anybody else can read it. The answer is false out of loops and `try`, as in overwritten.h.
bool IsSurelyReplacedUnread(const Module& module, std::span<const Position> path, ExprId target, const Readers& readers);

}  // namespace allranks::ir
