// The submodules that a .gitmodules file lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace allranks::pipeline {

// Their folders, relative to that of the file.
std::vector<std::string> SubmodulesIn(std::string_view gitmodules);

}  // namespace allranks::pipeline
