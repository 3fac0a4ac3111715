// What a Python file does only where it is started, and not where it is imported: `if __name__ == "__main__":`.
#pragma once

#include "analyzer/binding/neighbourhood.h"

namespace allranks::objects {

// Whether a test asks for it.
bool AsksForMain(const base::Interner& names, const ir::Module& module, ir::ExprId test);
// The statement at the top of a file that does; none if there is none.
ir::StmtId MainOf(const binding::Program& program, ir::ModuleId module);
// Whether a file is there to be started: it has such a statement, is a notebook, or does something when it is run (a call, a loop) and nobody imports it.
bool IsStartedByHand(const binding::Program& program, const binding::Neighbourhood& neighbourhood, ir::ModuleId module);

}  // namespace allranks::objects
