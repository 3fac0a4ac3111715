// What can go wrong on one rank and not on others, and which handlers catch it.
#pragma once

#include "analyzer/traces/build.h"

namespace allranks::traces {

Breadth HandlerBreadth(const State& state, ir::ModuleId module, const ir::Handler& handler);

// The same of what an expression names: an exception, or several in a tuple.
Breadth BreadthOf(const State& state, ir::ModuleId module, ir::ExprId type);

// Whether the statement itself does work that fails on single ranks: a forward pass, reading data or files, parsing.
bool CanFailOnOneRank(const State& state, FuncId func, ir::StmtId stmt);

}  // namespace allranks::traces
