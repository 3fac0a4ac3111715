// Text as a terminal shows it: how wide each character is, and nothing that could steer the terminal.
#pragma once

#include <cstdint>
#include <span>
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

// Tabs become spaces; control characters, bytes that are not UTF-8, characters that change the direction of text, and what makes a
// command of a text (IsOfCommand) become U+FFFD.
std::vector<Glyph> Glyphs(std::string_view line);

// One character of a text in UTF-8; a byte that is part of none is not `valid`.
struct Decoded {
  char32_t value = 0;
  uint32_t offset = 0;
  uint32_t length = 1;
  bool valid = true;
};
std::vector<Decoded> DecodeAll(std::string_view text);

// Whether this character is the second `#` of `##[` or `##vso[`: the runners of GitHub and Azure take such a text for a command to
// themselves, wherever in a line of their log it stands.
bool IsOfCommand(std::span<const Decoded> text, size_t at);

// Cells that a text takes.
uint32_t Width(std::string_view text);

}  // namespace allranks::reports
