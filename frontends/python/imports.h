#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace allranks::python {

// `import a.b` is {0, "a.b", {}}; `from ..m import n as k, l` is {2, "m", {"n", "l"}}; a star is the name
// "*".
struct ScannedImport {
  uint32_t level = 0;
  std::string module;
  std::vector<std::string> names;
};

// The imports of a file, found in its text without parsing: to know which files may matter before any is
// parsed. It may find more than there are (in a docstring), never fewer but those that no statement makes
// (`importlib`).
std::vector<ScannedImport> ScanImports(std::string_view text);

// The same of calls that put a folder into the path of Python (`sys.path.append("lib")`): of each the texts in it, in order.
std::vector<std::vector<std::string>> ScanAddedFolders(std::string_view text);

}  // namespace allranks::python
