#pragma once

#include <string>
#include <vector>

#include "analyzer/ir/program.h"

namespace allranks::ir {

// What is wrong with a module's structure, one line a fault, empty for a sound one: ids and lists in range,
// no node in two places, spans inside the file, outer definitions before inner ones, no nesting beyond
// `kMaxDepth`. For tests and fuzzing: a front end must never make a module that fails here, whatever it
// reads.
std::vector<std::string> Verify(const Module& module, size_t source_bytes);

}  // namespace allranks::ir
