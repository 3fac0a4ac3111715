// How lines for people count and list.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace allranks::cli {

// "1 file", "2 files"
std::string Counted(size_t count, std::string_view one);

// "a, b, c and 2 more"
std::string FirstOf(const std::vector<std::string>& names, size_t most = 4);

}  // namespace allranks::cli
