#include "driver/reports/markup.h"

#include "driver/reports/text_width.h"

namespace allranks::reports {
namespace {

// Of XML 1.0, without the signs that make text look like another (Unicode's bidirectional controls).
bool IsPlainCharacter(char32_t c) {
  if (c < 0x20) return c == '\t' || c == '\n';
  if ((c >= 0x7f && c < 0xa0) || c == 0xfffe || c == 0xffff) return false;
  const bool turns = c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return !turns;
}

}  // namespace

std::string Escaped(std::string_view text) {
  std::string out;
  const std::vector<Decoded> characters = DecodeAll(text);
  for (size_t i = 0; i < characters.size(); ++i) {
    const Decoded& c = characters[i];
    if (!c.valid || !IsPlainCharacter(c.value)) {
      out += "\xef\xbf\xbd";
      continue;
    }
    if (IsOfCommand(characters, i)) {
      out += "&#35;";
      continue;
    }
    switch (c.value) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += text.substr(c.offset, c.length);
    }
  }
  return out;
}

}  // namespace allranks::reports
