#include "frontends/python/outline.h"

#include <algorithm>
#include <array>

#include "frontends/python/text_scanner.h"

namespace allranks::python {
namespace {

using ir::Range;

// They go on with the statement above them.
constexpr std::array<std::string_view, 4> kClauseWords = {"else", "elif", "except", "finally"};
// They need a colon.
constexpr std::array<std::string_view, 11> kHeaderWords = {"def", "class", "if",   "for",    "while",  "with",
                                                           "try", "else",  "elif", "except", "finally"};

// The header word of a line, past an `async`; empty if it has none.
std::string_view HeaderWordAt(std::string_view text, size_t at) {
  std::string_view word = WordAt(text, at);
  if (word == "async") word = WordAt(text, SkipBlanks(text, at + word.size()));
  return IsOneOf(word, kHeaderWords) ? word : std::string_view();
}

char PartnerOf(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

std::string Quoted(char c) { return std::string("`") + c + "`"; }

size_t LineStart(std::string_view text, size_t at) {
  const size_t end = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return end == std::string_view::npos ? 0 : end + 1;
}

// Without the line end and the white space before it.
size_t LineEnd(std::string_view text, size_t at) {
  size_t end = std::min(text.find('\n', at), text.size());
  while (end > at && (text[end - 1] == ' ' || text[end - 1] == '\t' || text[end - 1] == '\r')) --end;
  return end;
}

// ---- Masking

// A header of the same kind that says nothing, no longer than `line`; empty if there is none.
std::string EmptyHeader(std::string_view line) {
  const std::string_view word = HeaderWordAt(line, 0);
  std::string header = "if _:";
  if (word == "else" || word == "try" || word == "finally" || word == "except")
    header = std::string(word) + ":";
  if (word == "elif") header = "elif _:";
  if (word == "def" || word == "class") {
    // The name is worth keeping.
    const size_t after = line.find(word) + word.size();
    const size_t name = SkipBlanks(line, after);
    const std::string named = std::string(line.substr(0, name + WordAt(line, name).size()));
    const std::string definition = named + (word == "def" ? "():" : ":");
    if (definition.size() <= line.size()) header = definition;
  }
  return header.size() <= line.size() ? header : "";
}

// Where the header that begins at `begin` ends: at its line's end, or, with a bracket open there, with the
// next line that ends in a colon.
size_t HeaderEnd(std::string_view text, size_t begin) {
  constexpr int kMostLines = 20;
  const size_t first_end = LineEnd(text, begin);
  const Range first = {static_cast<uint32_t>(begin), static_cast<uint32_t>(first_end)};
  int open = 0;
  TextScanner(text, first)
      .Run([](uint32_t) { return true; },
           [&](uint32_t at) {
             if (IsBracket(text[at])) open += IsOpening(text[at]) ? 1 : -1;
             return true;
           });
  size_t end = first_end;
  for (int i = 0; open > 0 && i < kMostLines; ++i) {
    if (end > begin && text[end - 1] == ':') return end;
    const size_t next = text.find('\n', end);
    if (next == std::string_view::npos) break;
    end = LineEnd(text, next + 1);
  }
  return first_end;
}

// Where the simple statement at `begin` ends: it goes on over lines that lie further in, are empty, or close
// brackets.
size_t SimpleEnd(std::string_view text, size_t begin) {
  const size_t indent = begin - LineStart(text, begin);
  size_t end = LineEnd(text, begin);
  for (size_t line = text.find('\n', end); line != std::string_view::npos; line = text.find('\n', line)) {
    ++line;
    const size_t first = text.find_first_not_of(" \t\f\r\n", line);
    if (first == std::string_view::npos) break;
    const bool closes = text[first] == ')' || text[first] == ']' || text[first] == '}';
    if (first - LineStart(text, first) <= indent && !closes) break;
    line = first;
    end = LineEnd(text, first);
  }
  return end;
}

// Any other sign leaves the depth as it is, and so does a bracket that closes nothing.
void NoteBracket(char sign, size_t* depth) {
  if (IsOpening(sign)) {
    ++*depth;
  } else if (IsBracket(sign) && *depth > 0) {
    --*depth;
  }
}

}  // namespace

uint32_t StatementBegin(std::string_view text, Range range, uint32_t offset) {
  uint32_t begin = range.begin;
  size_t depth = 0;
  const auto on_line = [&](uint32_t at) {
    if (at > offset) return false;
    if (IsOneOf(WordAt(text, at), kStatementWords)) depth = 0;
    if (depth == 0) begin = at;
    return true;
  };
  const auto on_sign = [&](uint32_t at) {
    NoteBracket(text[at], &depth);
    return at < offset;
  };
  TextScanner(text, range).Run(on_line, on_sign);
  return begin;
}

std::vector<Range> SplitStatements(std::string_view text, Range range) {
  std::vector<uint32_t> starts = {range.begin};
  size_t depth = 0;
  bool decorated = false;
  const auto on_line = [&](uint32_t at) {
    const std::string_view word = text[at] == '@' ? "@" : WordAt(text, at);
    if (at != LineStart(text, at) || word.empty() || IsOneOf(word, kClauseWords)) return true;
    const bool is_sure = word == "@" || IsOneOf(word, kStatementWords);
    if (depth > 0 && !is_sure) return true;
    depth = 0;
    if (!decorated && at > range.begin) starts.push_back(at);
    decorated = word == "@";
    return true;
  };
  const auto on_sign = [&](uint32_t at) {
    NoteBracket(text[at], &depth);
    return true;
  };
  TextScanner(text, range).Run(on_line, on_sign);
  std::vector<Range> statements;
  for (size_t i = 0; i < starts.size(); ++i) {
    statements.push_back({starts[i], i + 1 < starts.size() ? starts[i + 1] : range.end});
  }
  return statements;
}

std::optional<TextFault> FindTextFault(std::string_view text, Range range) {
  std::vector<uint32_t> open;
  // A header whose colon is still to come.
  bool needs_colon = false;
  std::optional<TextFault> fault;
  const auto never_closed = [&] {
    return TextFault{open.back(), Quoted(text[open.back()]) + " is never closed"};
  };
  const auto on_line = [&](uint32_t at) {
    if (open.empty()) needs_colon = !HeaderWordAt(text, at).empty();
    if (!open.empty() && IsOneOf(WordAt(text, at), kStatementWords)) fault = never_closed();
    return !fault;
  };
  const auto on_sign = [&](uint32_t at) {
    const char c = text[at];
    if (c == ':' || c == '\n') {
      if (!open.empty()) return true;
      if (needs_colon && c == '\n') fault = {at, "expected `:`"};
      needs_colon = false;
    } else if (IsOpening(c)) {
      open.push_back(at);
    } else if (open.empty()) {
      fault = {at, Quoted(c) + " closes nothing"};
    } else if (PartnerOf(text[open.back()]) != c) {
      fault = {at, Quoted(c) + " does not close " + Quoted(text[open.back()])};
    } else {
      open.pop_back();
    }
    return !fault;
  };
  TextScanner(text, range).Run(on_line, on_sign);
  if (!fault && !open.empty()) fault = never_closed();
  return fault;
}

Range MaskStatement(uint32_t offset, Range range, std::string* text) {
  const std::string_view view = std::string_view(*text).substr(0, range.end);
  const size_t begin = StatementBegin(view, range, offset);
  const bool is_header = !HeaderWordAt(view, begin).empty();
  const size_t end = std::max(begin, is_header ? HeaderEnd(view, begin) : SimpleEnd(view, begin));
  std::string instead = is_header ? EmptyHeader(view.substr(begin, LineEnd(view, begin) - begin)) : "pass";
  const size_t first_line = std::min(view.find('\n', begin), end) - begin;
  // A clause may be wrong as such, with nothing above it to go on with.
  if (view.substr(begin, end - begin) == instead) instead = "pass";
  if (instead.size() > first_line) instead.clear();
  for (size_t i = begin; i < end; ++i) {
    char& c = (*text)[i];
    if (c != '\n' && c != '\r') c = ' ';
  }
  std::copy(instead.begin(), instead.end(), text->begin() + static_cast<ptrdiff_t>(begin));
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
}

}  // namespace allranks::python
