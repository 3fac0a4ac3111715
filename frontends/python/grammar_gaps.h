#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/builder.h"

namespace allranks::python {

// Valid Python that tree-sitter-python 0.25 cannot parse, rewritten into what it can, byte for byte:
//
// * `x = *[], 1`: a star in a tuple without parentheses before anything but a name. The star is blanked;
// lowering puts
//   it back.
// * `class A[T = int]`: defaults of type parameters, which become bounds. Lowering reads neither.
// * `x: A[B[int] or C[int]] = y`: an `or` within the brackets of a variable's annotation, which becomes `|`.
//
// Looks at the statements around `places`, where the parser stumbled. True if it changed anything; `stars`
// gets the offsets of the blanked stars, in order.
bool CloseGrammarGaps(ir::Range range, const std::vector<uint32_t>& places, std::string* text,
                      std::vector<uint32_t>* stars);

}  // namespace allranks::python
