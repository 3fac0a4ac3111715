// Fixes in the cells of a notebook, put into its JSON: all that no fix touches stays byte for byte as it is.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyzer/base/result.h"
#include "analyzer/findings/finding.h"
#include "analyzer/source/source_file.h"

namespace allranks::fixes {

// `notebook` was read from `json`; `edits` are places of its text, sorted and disjoint. An error is a sentence: an edit that
// touches a line of magic, which was not read as it is written, or that crosses from one cell into the next.
[[nodiscard]] base::Result<std::string> EditNotebook(std::string_view json, const source::SourceFile& notebook,
                                                     std::span<const findings::Edit> edits);

}  // namespace allranks::fixes
