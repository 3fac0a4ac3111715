#include "analyzer/source/one_line.h"

namespace allranks::source {
namespace {

std::string WithSingleBlanks(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!is_blank) out += c;
    else if (!out.empty() && out.back() != ' ') out += ' ';
  }
  return out;
}

// The last blank before `end` that is outside of brackets and quotes; 0: there is none.
size_t LastBlank(std::string_view text, size_t end) {
  size_t last = 0;
  int depth = 0;
  char quote = 0;
  for (size_t at = 0; at < end; ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ' ' && depth == 0) {
      last = at;
    }
  }
  return last;
}

// Not through a character of several bytes.
size_t WholeCharacters(std::string_view text, size_t end) {
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return end;
}

}  // namespace

std::string OnOneLine(std::string_view text, size_t longest) {
  constexpr std::string_view kCut = " ...";
  std::string line = WithSingleBlanks(text);
  if (line.size() <= longest) return line;
  const size_t end = longest - kCut.size();
  const size_t blank = LastBlank(line, end + 1);
  if (blank >= longest / 2) return line.substr(0, blank) + std::string(kCut);
  return line.substr(0, WholeCharacters(line, longest - 3)) + "...";
}

}  // namespace allranks::source
