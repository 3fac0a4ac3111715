// A unified diff of two texts, as `diff -u` and `git apply` understand it.
#pragma once

#include <string>
#include <string_view>

namespace allranks::fixes {

// Empty if the texts are equal. `path` names the file on both sides.
std::string UnifiedDiff(std::string_view path, std::string_view before, std::string_view after);

}  // namespace allranks::fixes
