#include "driver/config/caret.h"

namespace allranks::config {
namespace {

// Longer lines say nothing in a terminal.
constexpr size_t kLongestLine = 200;

std::string_view LineOf(std::string_view text, uint32_t line) {
  for (; line > 1; --line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Spaces up to the place; tabs stay tabs, so that both lines are equally wide.
std::string Indent(std::string_view line, uint32_t column) {
  std::string out;
  for (size_t i = 0; i < line.size() && out.size() + 1 < column; ++i) {
    if (!IsContinuation(line[i])) out += line[i] == '\t' ? '\t' : ' ';
  }
  return out;
}

}  // namespace

std::string AtCaret(std::string_view shown, std::string_view text, const CaretPlace& place, std::string_view what) {
  const std::string number = std::to_string(place.line);
  std::string out = std::string(shown) + ":" + number + ":" + std::to_string(place.column) + ": " + std::string(what);
  const std::string_view line = LineOf(text, place.line);
  if (line.empty() || line.size() > kLongestLine) return out;
  const size_t signs = place.end_column > place.column ? place.end_column - place.column : 1;
  out += "\n  " + number + " | ";
  for (const char c : line) out += static_cast<unsigned char>(c) < 0x20 && c != '\t' ? '?' : c;
  return out + "\n  " + std::string(number.size(), ' ') + " | " + Indent(line, place.column) + std::string(signs, '^');
}

}  // namespace allranks::config
