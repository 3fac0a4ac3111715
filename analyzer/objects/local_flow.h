// What an expression is made of within its function, where the value analysis keeps no parts any more: values forget them
// beyond a depth, names do not.
#pragma once

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

// Whether the result of `from` goes into `into`, through variables of the function that both stand in. A tensor that was
// detached brings no gradient along and is not followed.
//
// Not sound: every assignment to a variable counts, those behind `into` too; fields and items are not followed.
bool FlowsInto(const binding::Program& program, const ProgramIndex& index, FuncId function, ir::ExprId from, ir::ExprId into);

}  // namespace allranks::objects
