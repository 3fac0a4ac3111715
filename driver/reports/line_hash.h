#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace allranks::reports {

// By line: what GitHub code scanning calls `primaryLocationLineHash`, "39fa2ee980eb94b0:1". A rolling hash over the next 100
// characters of the file without spaces and tabs, in UTF-16 units, and how often it has occurred so far; so it survives
// lines that move and are indented anew. As github/codeql-action computes it (src/fingerprints.ts).
std::vector<std::string> LineHashes(std::string_view text);

}  // namespace allranks::reports
