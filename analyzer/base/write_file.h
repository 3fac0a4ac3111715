// Files written whole or not at all. Errors are numbers of errno; 0: it is done.
#pragma once

#include <string>
#include <string_view>

namespace allranks::base {

[[nodiscard]] int WriteAll(int descriptor, std::string_view text);

// Writes beside `path` and renames: whoever reads the path sees the old file or the new one. Several processes may do so
// at once.
[[nodiscard]] int WriteWhole(const std::string& path, std::string_view text);

}  // namespace allranks::base
