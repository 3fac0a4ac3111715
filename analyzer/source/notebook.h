#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/result.h"
#include "analyzer/source/source_file.h"

namespace allranks::source {

// The code of a notebook as one text: its code cells one after the other, each ending in a line end.
struct NotebookText {
  std::string text;
  std::vector<NotebookCell> cells;
};

// Reads the JSON of nbformat 3 or 4. A notebook of another language than Python has no cells for us.
[[nodiscard]] base::Result<NotebookText> ReadNotebook(std::string_view json);

// The source of one cell as plain Python: IPython's magics become comments or `pass`; every line stays a
// line.
std::string WithoutMagics(std::string_view cell);

}  // namespace allranks::source
