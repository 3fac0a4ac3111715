// Kernel launches as Clang can parse them.
#pragma once

#include <string>
#include <string_view>

namespace allranks::cpp {

// CUDA's own compiler takes a braced list as an argument between the angle brackets of a launch,
// `kernel<<<grid, {32, 32}>>>(...)`; Clang 19 parses simple expressions there. Such a list is written as a comma
// expression, `(32, 32)`, so that nothing else moves: the text that comes back is as long as the one given.
std::string WithPlainLaunches(std::string_view text);

}  // namespace allranks::cpp
