// Which frames of a stack are the user's, and where the call into the library stands.
#pragma once

#include <string_view>
#include <vector>

#include "explain/readers/recording.h"

namespace allranks::explain {

// Whether a file belongs to an installed package or to the interpreter.
bool IsLibraryFile(std::string_view file);

// Frames of the user's own files, outermost first: the chain of calls to the operation.
std::vector<Frame> UserFrames(const Recording& recording, StackIndex stack);

// The kind of operation in whose call a stack stands, told by the functions of torch.distributed in it; empty: none.
std::string OperationOf(const Recording& recording, StackIndex stack);

}  // namespace allranks::explain
