// The parsed text of an ignore comment: `# allranks: ignore[AR101, AR104] reason`.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace allranks::findings {

inline constexpr std::string_view kDirectiveWord = "allranks:";

// Offsets count from the start of the comment.
struct Directive {
  std::string_view verb;
  size_t verb_begin = 0;
  std::vector<std::pair<size_t, std::string_view>> codes;
  size_t close = 0;  // the closing bracket
  size_t end = 0;    // where it ends: with the comment, or before another `#` in it, which may speak to another tool
  std::string_view reason;
  bool has_list = false;
  bool closed = true;
};

// Nothing if the comment does not speak to us. The word must open the comment: prose may mention the syntax. Capital letters
// are forgiven to what has a list of codes, so that it can be said what is wrong with it.
std::optional<Directive> ParseDirective(std::string_view comment);

}  // namespace allranks::findings
