#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace allranks::python {

// `import a.b as c` names the module a.b; `from ..m import n, k` names level 2, module m, names n and k.
struct ScannedImport {
  uint32_t level = 0;
  std::string_view module;
  std::vector<std::string_view> names;
};

// The imports of a file, found line by line without parsing: indented ones, several on a line and lists in parentheses
// included. Text inside a long string may look like one; a module that is not there is then looked for in vain.
std::vector<ScannedImport> ScanImports(std::string_view text);

}  // namespace allranks::python
