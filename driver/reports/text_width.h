// Text as a terminal shows it: how wide each character is, and nothing that could steer the terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace allranks::reports {

// One character of a line.
struct Glyph {
  uint32_t offset = 0;  // byte in the line
  uint32_t column = 0;  // cell of the terminal where it starts
  uint32_t width = 1;   // cells: 0 for combining marks, 2 for wide characters, more for a tab
  std::string text;     // what is printed
};

constexpr uint32_t kTabStop = 4;

// Tabs become spaces; control characters, bytes that are not UTF-8, and characters that change the direction of
// text become U+FFFD.
std::vector<Glyph> Glyphs(std::string_view line);

// One character of a text in UTF-8; a byte that is part of none is not `valid`.
struct Decoded {
  char32_t value = 0;
  uint32_t offset = 0;
  uint32_t length = 1;
  bool valid = true;
};
std::vector<Decoded> DecodeAll(std::string_view text);

// Cells that a text takes.
uint32_t Width(std::string_view text);

}  // namespace allranks::reports
