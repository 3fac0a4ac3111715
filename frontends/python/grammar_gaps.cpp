#include "frontends/python/grammar_gaps.h"

#include <algorithm>

#include "frontends/python/outline.h"
#include "frontends/python/text_scanner.h"

namespace allranks::python {
namespace {

using ir::Range;

// Before a star that begins an element of a tuple.
constexpr std::array<std::string_view, 3> kWordsBeforeStar = {"return", "in", "yield"};

// What begins a statement whose colon, outside of brackets, is followed by a block.
constexpr std::array<std::string_view, 14> kWordsWithBlock = {"async",  "case", "class", "def",   "elif", "else", "except",
                                                              "finally", "for", "if",    "match", "try",  "while", "with"};

// One statement, from its first word to the end of its line.
class GapCloser {
 public:
  GapCloser(uint32_t begin, Range range, std::string* text, std::vector<uint32_t>* stars)
      : begin_(begin), range_({begin, range.end}), text_(*text), stars_(*stars) {
    std::string_view word = WordAt(text_, begin);
    may_be_annotated_ = !IsOneOf(word, kWordsWithBlock);
    if (word == "async") word = WordAt(text_, SkipBlanks(text_, begin + word.size()));
    may_have_type_params_ = word == "def" || word == "class" || word == "type";
  }

  bool Run() {
    const auto on_line = [](uint32_t) { return true; };
    const auto on_sign = [this](uint32_t at) { return Sign(at); };
    TextScanner(text_, range_, "()[]{}=*:o\n").Run(on_line, on_sign);
    return changed_;
  }

 private:
  bool Sign(uint32_t at) {
    const char c = text_[at];
    if (c == '\n') return depth_ > 0;
    if (c == '*') {
      if (depth_ == 0) Star(at);
    } else if (c == '=') {
      if (in_type_params_ && depth_ == 1) Change(at, ':');
      if (depth_ == 0) may_be_annotated_ = in_annotation_ = false;
    } else if (c == ':') {
      if (depth_ == 0) in_annotation_ = may_be_annotated_ && !HasWord(std::string_view(text_).substr(begin_, at - begin_), "lambda");
    } else if (c == 'o') {
      if (in_annotation_ && depth_ > 0) Or(at);
    } else if (IsOpening(c)) {
      if (depth_ == 0) in_type_params_ = may_have_type_params_ && c == '[';
      // Only the first brackets of the statement can hold them.
      may_have_type_params_ = false;
      ++depth_;
    } else if (depth_ > 0) {
      --depth_;
      in_type_params_ = in_type_params_ && depth_ > 0;
    }
    return true;
  }

  void Star(uint32_t at) {
    if (!BeginsElement(at)) return;
    const size_t next = SkipBlanks(text_, at + 1);
    if (next >= text_.size()) return;
    const char c = text_[next];
    const bool is_gap = IsOpening(c) || c == '"' || c == '\'' || (c >= '0' && c <= '9');
    if (!is_gap) return;
    Change(at, ' ');
    stars_.push_back(at);
  }

  void Or(uint32_t at) {
    if (WordAt(text_, at) != "or" || IsWordByte(text_[at - 1])) return;
    Change(at, '|');
    Change(at + 1, ' ');
  }

  bool BeginsElement(uint32_t at) const {
    if (at == begin_) return true;
    uint32_t before = at;
    while (before > begin_ && (text_[before - 1] == ' ' || text_[before - 1] == '\t')) --before;
    const char c = text_[before - 1];
    if (c == ',' || c == '=') return true;
    uint32_t word = before;
    while (word > begin_ && IsWordByte(text_[word - 1])) --word;
    return IsOneOf(std::string_view(text_).substr(word, before - word), kWordsBeforeStar);
  }

  void Change(uint32_t at, char c) {
    text_[at] = c;
    changed_ = true;
  }

  const uint32_t begin_;
  const Range range_;
  std::string& text_;
  std::vector<uint32_t>& stars_;
  size_t depth_ = 0;
  bool may_be_annotated_ = false;
  bool in_annotation_ = false;
  bool may_have_type_params_ = false;
  bool in_type_params_ = false;
  bool changed_ = false;
};

}  // namespace

bool CloseGrammarGaps(Range range, const std::vector<uint32_t>& places, std::string* text,
                      std::vector<uint32_t>* stars) {
  bool changed = false;
  for (const uint32_t place : places) {
    const uint32_t begin = StatementBegin(*text, range, place);
    changed = GapCloser(begin, range, text, stars).Run() || changed;
  }
  std::sort(stars->begin(), stars->end());
  return changed;
}

}  // namespace allranks::python
