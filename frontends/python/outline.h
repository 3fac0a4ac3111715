#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/builder.h"

// What can be told of Python text without a grammar, from its lines, strings, comments and brackets. It
// serves text that the parser cannot fit: the parser then drops all that follows a bracket left open, a
// person would not.
namespace allranks::python {

// Where the statements of the outermost level begin, the first at `range.begin`. A keyword that cannot stand
// inside brackets begins one even where a bracket is open.
std::vector<ir::Range> SplitStatements(std::string_view text, ir::Range range);

// Where the statement begins that `offset` lies in, behind its indentation.
uint32_t StatementBegin(std::string_view text, ir::Range range, uint32_t offset);

struct TextFault {
  uint32_t offset = 0;
  std::string text;
};

// The first bracket without its partner, or header without its colon.
std::optional<TextFault> FindTextFault(std::string_view text, ir::Range range);

// Replaces the statement that stands on the line of `offset` by one that does nothing: `pass`, or a header of
// its own kind over the block that follows. Gives what was replaced; nothing changes its place.
ir::Range MaskStatement(uint32_t offset, ir::Range range, std::string* text);

}  // namespace allranks::python
