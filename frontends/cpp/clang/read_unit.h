#pragma once

#include "frontends/cpp/exchange.h"

namespace allranks::cpp {

// Parses one translation unit with Clang and lowers what the project defines in it. Errors of the source are part of
// the reply; a crash of Clang is one of this process.
Reply ReadUnit(const Request& request);

}  // namespace allranks::cpp
