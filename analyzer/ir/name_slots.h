#pragma once

#include <functional>

#include "analyzer/ir/program.h"

namespace allranks::ir {

// Calls `visit` for every place of a module that holds a name, each once, none (kNoneIndex) included. For modules that
// `Verify` finds no fault with: lists are not checked here.
void ForEachName(Module& module, const std::function<void(uint32_t& index)>& visit);

}  // namespace allranks::ir
