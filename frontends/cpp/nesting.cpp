#include "frontends/cpp/nesting.h"

#include <algorithm>
#include <string>
#include <vector>

namespace allranks::cpp {
namespace {

bool IsOfWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

class Nesting {
 public:
  explicit Nesting(std::string_view text) : text_(text) {}

  size_t Deepest() {
    while (at_ < text_.size()) Step();
    return deepest_;
  }

 private:
  void Step() {
    const char c = text_[at_];
    if (text_.substr(at_, 2) == "//" || c == '#') return SkipLine();
    if (text_.substr(at_, 2) == "/*") return SkipBehind("*/", at_ + 2);
    if (c == '"' || c == '\'') return Quoted(c);
    if (IsOfWord(c)) return Word();
    ++at_;
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') Sign(c);
  }

  // With those that a backslash joins to it.
  void SkipLine() {
    size_t end = text_.find('\n', at_);
    while (end != std::string_view::npos && end > at_ && text_[end - 1] == '\\') end = text_.find('\n', end + 1);
    at_ = std::min(end, text_.size());
  }

  void SkipBehind(std::string_view mark, size_t from) {
    const size_t found = text_.find(mark, from);
    at_ = found == std::string_view::npos ? text_.size() : found + mark.size();
  }

  void Quoted(char quote) {
    Begin();
    if (quote == '"' && at_ > 0 && text_[at_ - 1] == 'R') {
      const size_t open = std::min(text_.find('(', at_), text_.size());
      return SkipBehind(")" + std::string(text_.substr(at_ + 1, open - std::min(open, at_ + 1))) + "\"", open);
    }
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  void Word() {
    size_t end = at_;
    // `1'000'000` is one number.
    while (end < text_.size() && (IsOfWord(text_[end]) || (text_[end] == '\'' && text_[at_] <= '9'))) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    if (word == "else") is_over_ = false;
    else Begin();
    constexpr std::string_view kAround[] = {"do", "for", "if", "switch", "while"};
    if (std::ranges::find(kAround, word) != std::end(kAround)) deepest_ = std::max(deepest_, ++open_.back());
  }

  // Another statement than an `else` of the one before: that is over, with all around it.
  void Begin() {
    if (is_over_) open_.back() = 0;
    is_over_ = false;
  }

  void Sign(char c) {
    if (c == '}') {
      if (open_.size() > 1) open_.pop_back();
      is_over_ = true;
      return;
    }
    if (c == ';' && parens_ == 0) {
      is_over_ = true;
      return;
    }
    Begin();
    if (c == '{') open_.push_back(0);
    if (c == '(') ++parens_;
    if (c == ')' && parens_ > 0) --parens_;
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t parens_ = 0;
  size_t deepest_ = 0;
  bool is_over_ = false;            // a statement ended, if no `else` follows
  std::vector<size_t> open_ = {0};  // statements, by open brace
};

}  // namespace

size_t NestingOf(std::string_view text) { return Nesting(text).Deepest(); }

}  // namespace allranks::cpp
