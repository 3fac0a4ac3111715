#pragma once

#include <vector>

#include "analyzer/binding/program.h"
#include "analyzer/findings/finding.h"

namespace allranks::pipeline {

// Notes which code each finding stands in, by the IR of its function: copies have the same, whatever their comments and lines.
// Findings in files of other kinds have none.
void NoteFunctionCode(const binding::Program& program, std::vector<findings::Finding>& findings);

}  // namespace allranks::pipeline
