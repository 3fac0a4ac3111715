#include "driver/pipeline/gitignore.h"

#include <cctype>

namespace allranks::pipeline {
namespace {

bool InNamedClass(std::string_view name, unsigned char c) {
  if (name == "alnum") return std::isalnum(c) != 0;
  if (name == "alpha") return std::isalpha(c) != 0;
  if (name == "blank") return c == ' ' || c == '\t';
  if (name == "cntrl") return std::iscntrl(c) != 0;
  if (name == "digit") return std::isdigit(c) != 0;
  if (name == "graph") return std::isgraph(c) != 0;
  if (name == "lower") return std::islower(c) != 0;
  if (name == "print") return std::isprint(c) != 0;
  if (name == "punct") return std::ispunct(c) != 0;
  if (name == "space") return std::isspace(c) != 0;
  if (name == "upper") return std::isupper(c) != 0;
  if (name == "xdigit") return std::isxdigit(c) != 0;
  return false;
}

// Matches one character against the bracket expression that starts at `at`, and moves `at` behind it. An
// expression without its end matches nothing.
bool MatchBracket(std::string_view glob, size_t& at, unsigned char c) {
  size_t i = at + 1;
  const bool negated = i < glob.size() && (glob[i] == '!' || glob[i] == '^');
  if (negated) ++i;
  bool matched = false;
  for (bool first = true; i < glob.size() && (first || glob[i] != ']'); first = false) {
    if (glob[i] == '[' && i + 1 < glob.size() && glob[i + 1] == ':') {
      const size_t close = glob.find(":]", i + 2);
      if (close != std::string_view::npos) {
        matched = matched || InNamedClass(glob.substr(i + 2, close - i - 2), c);
        i = close + 2;
        continue;
      }
    }
    if (glob[i] == '\\' && i + 1 < glob.size()) ++i;
    const auto low = static_cast<unsigned char>(glob[i++]);
    auto high = low;
    if (i + 1 < glob.size() && glob[i] == '-' && glob[i + 1] != ']') {
      ++i;
      if (glob[i] == '\\' && i + 1 < glob.size()) ++i;
      high = static_cast<unsigned char>(glob[i++]);
    }
    matched = matched || (low <= c && c <= high);
  }
  if (i >= glob.size()) {
    at = glob.size() + 1;
    return false;
  }
  at = i + 1;
  return matched != negated;
}

// Matches one character of the name; moves `at` behind the part of the pattern that speaks of it.
bool MatchOne(std::string_view glob, size_t& at, unsigned char c) {
  if (glob[at] == '?') return ++at, true;
  if (glob[at] == '[') return MatchBracket(glob, at, c);
  if (glob[at] == '\\' && at + 1 < glob.size()) ++at;
  return static_cast<unsigned char>(glob[at++]) == c;
}

// Takes the part up to the next '/' off `text`; `more` says whether there was a '/'.
std::string_view TakeSegment(std::string_view& text, bool& more) {
  const size_t slash = text.find('/');
  more = slash != std::string_view::npos;
  const std::string_view segment = text.substr(0, slash);
  text.remove_prefix(more ? slash + 1 : text.size());
  return segment;
}

std::vector<std::string_view> Segments(std::string_view text) {
  std::vector<std::string_view> segments;
  for (bool more = true; more;) segments.push_back(TakeSegment(text, more));
  return segments;
}

}  // namespace

bool MatchName(std::string_view glob, std::string_view name) {
  constexpr size_t kNone = std::string_view::npos;
  size_t at = 0, star = kNone, star_name = 0;
  for (size_t i = 0; i < name.size();) {
    if (at < glob.size() && glob[at] == '*') {
      star = at++;
      star_name = i;
      continue;
    }
    // On a mismatch the last star takes one character more; earlier stars need not be tried again.
    size_t next = at;
    if (at < glob.size() && MatchOne(glob, next, static_cast<unsigned char>(name[i]))) {
      at = next;
      ++i;
      continue;
    }
    if (star == kNone) return false;
    at = star + 1;
    i = ++star_name;
  }
  while (at < glob.size() && glob[at] == '*') ++at;
  return at == glob.size();
}

bool MatchPath(std::string_view glob, std::string_view path) {
  const std::vector<std::string_view> want = Segments(glob), have = Segments(path);
  constexpr size_t kNone = std::string_view::npos;
  size_t at = 0, star = kNone, star_have = 0;
  for (size_t i = 0; i < have.size();) {
    if (at < want.size() && want[at] == "**") {
      // A closing `/**` means everything inside, so it takes at least one name.
      if (at + 1 == want.size()) return true;
      star = at++;
      star_have = i;
      continue;
    }
    if (at < want.size() && MatchName(want[at], have[i])) {
      ++at;
      ++i;
      continue;
    }
    if (star == kNone) return false;
    at = star + 1;
    i = ++star_have;
  }
  return at == want.size();
}

std::optional<IgnoreFile::Pattern> IgnoreFile::Parse(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  // Spaces at the end count only behind a backslash.
  while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
  if (line.empty() || line.front() == '#') return std::nullopt;
  Pattern pattern;
  if (line.front() == '!') {
    pattern.negated = true;
    line.remove_prefix(1);
  }
  if (line.ends_with('/')) {
    pattern.directories_only = true;
    line.remove_suffix(1);
  }
  if (line.empty()) return std::nullopt;
  pattern.anchored = line.find('/') != std::string_view::npos;
  if (line.front() == '/') line.remove_prefix(1);
  pattern.glob = line;
  pattern.literal = line.find_first_of("*?[\\") == std::string_view::npos;
  return pattern;
}

IgnoreFile::IgnoreFile(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (std::optional<Pattern> pattern = Parse(text.substr(0, end))) patterns_.push_back(std::move(*pattern));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

bool IgnoreFile::Matches(const Pattern& pattern, std::string_view path, std::string_view name) {
  if (pattern.literal) return pattern.glob == (pattern.anchored ? path : name);
  return pattern.anchored ? MatchPath(pattern.glob, path) : MatchName(pattern.glob, name);
}

bool IgnoreFile::IgnoresFileOrFolder(std::string_view path) const {
  for (size_t slash = path.find('/', 1); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (Ignores(path.substr(0, slash), true).value_or(false)) return true;
  }
  return Ignores(path, false).value_or(false);
}

std::optional<bool> IgnoreFile::Ignores(std::string_view path, bool is_directory) const {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  for (auto pattern = patterns_.rbegin(); pattern != patterns_.rend(); ++pattern) {
    if (pattern->directories_only && !is_directory) continue;
    if (Matches(*pattern, path, name)) return !pattern->negated;
  }
  return std::nullopt;
}

}  // namespace allranks::pipeline
