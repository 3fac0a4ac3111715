// toml++ bounds how deep values nest, but not how many tables one key opens: `a.a.a = 1` and `[a.a.a]` are tables in tables, and
// it walks them by recursion. So keys are measured before it sees them. The scan knows strings and comments, and nothing else
// that could hold a dot: what else is odd about the text, the parser finds.
#include "analyzer/toml/parse.h"

#include <optional>

namespace allranks::toml_files {
namespace {

// People write some hundred lines.
constexpr size_t kLargest = size_t{1} << 20;
constexpr uint32_t kMostDots = 64;

class KeyScan {
 public:
  explicit KeyScan(std::string_view text) : text_(text) {}

  // Where a key gets too long.
  std::optional<toml::source_position> FirstTooLong() {
    uint32_t dots = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        SkipString();
        continue;
      }
      if (c == '#') {
        SkipTo('\n');
        continue;
      }
      if (c == '.' && ++dots > kMostDots) return toml::source_position{line_, static_cast<uint32_t>(at_ - line_begin_ + 1)};
      if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) dots = 0;
      Step();
    }
    return std::nullopt;
  }

 private:
  void Step() {
    if (text_[at_++] != '\n') return;
    ++line_;
    line_begin_ = at_;
  }
  void SkipTo(char end) {
    while (at_ < text_.size() && text_[at_] != end) Step();
  }
  // Of one line, unless three quotes open it; one that does not end is the parser's to refuse.
  void SkipString() {
    const char quote = text_[at_];
    const std::string three(3, quote);
    const bool is_long = text_.substr(at_).starts_with(three);
    for (size_t i = is_long ? 3 : 1; i > 0; --i) Step();
    while (at_ < text_.size()) {
      if (is_long ? text_.substr(at_).starts_with(three) : text_[at_] == quote || text_[at_] == '\n') break;
      if (quote == '"' && text_[at_] == '\\') Step();
      if (at_ < text_.size()) Step();
    }
    for (size_t i = is_long ? 3 : 1; i > 0 && at_ < text_.size() && text_[at_] == quote; --i) Step();
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  size_t line_begin_ = 0;
};

}  // namespace

toml::table Parse(std::string_view text, std::string_view name) {
  if (text.size() > kLargest) {
    throw toml::parse_error("larger than the 1 MiB that such a file may have", toml::source_region{{1, 1}, {1, 1}, nullptr});
  }
  if (const std::optional<toml::source_position> place = KeyScan(text).FirstTooLong()) {
    throw toml::parse_error("a key of more than 64 dots", toml::source_region{*place, *place, nullptr});
  }
  return toml::parse(text, name);
}

}  // namespace allranks::toml_files
