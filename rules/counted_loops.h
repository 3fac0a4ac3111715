// Loops that one count of steps ends on all ranks alike, however many items each of them has.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

// `while step < total: for batch in loader: ...; step += 1; if step >= total: break`, with the `for` as `loop`: each rank makes as many
// rounds of it in the end. Nothing else in the outer loop communicates.
bool EndsByCount(const Context& context, ir::ModuleId module, ir::StmtId loop);

}  // namespace allranks::rules
