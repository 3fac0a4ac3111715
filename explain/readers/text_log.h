// Logs and stacks: what watchdogs, c10d's own checks, torchrun, the Python interpreter, faulthandler and py-spy print,
// of one rank or of many, line by line and interleaved.
//
// A line belongs to the rank that it names: `[rank13]:` is a rank of the job and wins over `[Rank 1]`, which newer
// versions of PyTorch count within the group; launchers put `[default3]:`, `3:` or `[1,3]<stderr>:` in front. Lines that name
// none belong to the rank of the file's name. Blocks of several lines (a traceback, a stack) belong to the rank of their
// first line; lines of others may stand between if they carry prefixes of their own.
#pragma once

#include <optional>
#include <string_view>

#include "explain/readers/recording.h"

namespace allranks::explain {

// Adds what the text says; `rank` is what the name of the file says. False: nothing in it was of use.
bool AddText(std::string_view text, std::optional<uint32_t> rank, Recording& recording);

}  // namespace allranks::explain
