#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "analyzer/ir/builder.h"

namespace allranks::python {

inline bool IsWordByte(char c) {
  const unsigned char byte = static_cast<unsigned char>(c);
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
         byte == '_' || byte >= 0x80;
}

inline std::string_view WordAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsWordByte(text[end])) ++end;
  return text.substr(at, end - at);
}

// Whether a text holds a word that is no part of another.
inline bool HasWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool begins = at == 0 || !IsWordByte(text[at - 1]);
    if (begins && (end == text.size() || !IsWordByte(text[end]))) return true;
  }
  return false;
}

inline size_t SkipBlanks(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(" \t\f", at), text.size());
}

template <size_t n>
bool IsOneOf(std::string_view word, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Keywords that are never inside an expression.
inline constexpr std::array<std::string_view, 13> kStatementWords = {
    "def",   "class", "import", "while", "with",  "try",     "return",
    "raise", "del",   "global", "pass",  "break", "continue"};

inline bool IsOpening(char c) { return c == '(' || c == '[' || c == '{'; }
inline bool IsBracket(char c) { return IsOpening(c) || c == ')' || c == ']' || c == '}'; }

// Walks Python text outside of strings and comments.
class TextScanner {
 public:
  static constexpr std::string_view kStructure = "()[]{}:\n";

  // Stops on `signs`, which must hold the line end.
  TextScanner(std::string_view text, ir::Range range, std::string_view signs = kStructure)
      : text_(text.substr(0, range.end)), at_(range.begin) {
    for (const char c : signs) is_sign_[static_cast<unsigned char>(c)] = true;
  }

  // Calls `on_line(offset)` where a line begins that is not inside a string nor continues another, with its
  // indentation skipped, and `on_sign(offset)` on the signs; each returns false to stop.
  template <class OnLine, class OnSign>
  void Run(OnLine&& on_line, OnSign&& on_sign) {
    bool at_line_start = true;
    while (at_ < text_.size()) {
      if (at_line_start) {
        at_line_start = false;
        at_ = SkipBlanks(text_, at_);
        if (at_ >= text_.size() || !on_line(static_cast<uint32_t>(at_))) return;
      }
      const char c = text_[at_];
      if (is_sign_[static_cast<unsigned char>(c)]) {
        if (!on_sign(static_cast<uint32_t>(at_))) return;
        at_line_start = c == '\n';
        ++at_;
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        SkipString(c);
      } else if (c == '\\') {
        SkipEscaped();
      } else {
        ++at_;
      }
    }
  }

 private:
  // A backslash and what it escapes, be it a line end.
  void SkipEscaped() {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size()) ++at_;
  }

  bool IsTriple(char quote) const {
    return at_ + 2 < text_.size() && text_[at_] == quote && text_[at_ + 1] == quote &&
           text_[at_ + 2] == quote;
  }

  void SkipString(char quote) {
    const bool triple = IsTriple(quote);
    at_ += triple ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\') {
        SkipEscaped();
      } else if (c == '\n' && !triple) {
        // Left open: it cannot go on behind its line.
        return;
      } else if (c == quote && (!triple || IsTriple(quote))) {
        at_ += triple ? 3 : 1;
        return;
      } else {
        ++at_;
      }
    }
  }

  const std::string_view text_;
  size_t at_;
  std::array<bool, 256> is_sign_ = {};
};

}  // namespace allranks::python
