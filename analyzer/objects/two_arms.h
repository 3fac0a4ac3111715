// Whether two statements of a file stand in two arms of one branch, where no run comes by both.
//
// Unsound in a loop: one round may take one arm, and the next the other.
#pragma once

#include "analyzer/ir/tree.h"
#include "analyzer/objects/program_index.h"

namespace allranks::objects {

bool AreInTwoArms(const ir::Module& module, const ir::Tree& tree, ir::StmtId a, ir::StmtId b);
// Two places of one function.
bool AreInTwoArms(const binding::Program& program, const ProgramIndex& index, const Site& a, const Site& b);

}  // namespace allranks::objects
