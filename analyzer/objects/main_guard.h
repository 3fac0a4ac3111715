// What a Python file does only where it is started, and not where it is imported: `if __name__ == "__main__":`.
#pragma once

#include "analyzer/binding/program.h"

namespace allranks::objects {

// Whether a test asks for it.
bool AsksForMain(const binding::Program& program, const ir::Module& module, ir::ExprId test);
// The statement at the top of a file that does; none if there is none.
ir::StmtId MainOf(const binding::Program& program, ir::ModuleId module);

}  // namespace allranks::objects
