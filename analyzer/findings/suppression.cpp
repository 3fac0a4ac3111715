#include "analyzer/findings/suppression.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace allranks::findings {
namespace {

constexpr std::string_view kCode = "AR002";
constexpr std::string_view kWord = "allranks:";

// One code of one comment.
struct Entry {
  std::string code;       // of the rule; empty if the comment is wrong and `problem` says how
  source::Span span;      // the code as written, for AR002
  uint32_t comment = 0;   // where its comment starts
  std::vector<std::pair<uint32_t, uint32_t>> ranges;  // bytes it covers
  bool whole_file = false;
  bool used = false;
  std::optional<Text> problem;
};

// The parts of `# allranks: ignore[AR101, AR104] reason`, as offsets into the comment.
struct Directive {
  std::string_view verb;
  std::vector<std::pair<size_t, std::string_view>> codes;
  bool has_list = false;
  bool closed = true;
};

bool IsSpace(char c) { return c == ' ' || c == '\t'; }

std::string_view Trimmed(std::string_view text, size_t& offset) {
  while (!text.empty() && IsSpace(text.front())) {
    text.remove_prefix(1);
    ++offset;
  }
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

// Nothing if the comment does not speak to us. The word must open the comment: prose may mention the syntax.
std::optional<Directive> ParseDirective(std::string_view comment) {
  size_t at = 0;
  while (at < comment.size() && (comment[at] == '#' || comment[at] == '/' || IsSpace(comment[at]))) ++at;
  if (!comment.substr(at).starts_with(kWord)) return std::nullopt;
  at += kWord.size();
  while (at < comment.size() && IsSpace(comment[at])) ++at;
  const size_t verb = at;
  while (at < comment.size() && !IsSpace(comment[at]) && comment[at] != '[') ++at;
  Directive directive{.verb = comment.substr(verb, at - verb)};
  while (at < comment.size() && IsSpace(comment[at])) ++at;
  if (at >= comment.size() || comment[at] != '[') return directive;
  directive.has_list = true;
  const size_t close = comment.find(']', at);
  directive.closed = close != std::string_view::npos;
  for (size_t begin = at + 1; directive.closed && begin <= close;) {
    const size_t end = std::min(close, comment.find(',', begin));
    size_t offset = begin;
    const std::string_view code = Trimmed(comment.substr(begin, end - begin), offset);
    if (!code.empty()) directive.codes.emplace_back(offset, code);
    begin = end + 1;
  }
  return directive;
}

class FileScopes {
 public:
  FileScopes(const source::SourceFile& file, const FileSyntax& syntax) : file_(file), statements_(syntax.statements) {
    std::sort(statements_.begin(), statements_.end(), [](const Extent& a, const Extent& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
  }

  std::vector<std::pair<uint32_t, uint32_t>> CoveredBy(const Extent& comment) const {
    const uint32_t line = source::Locate(file_, comment.begin).line;
    const uint32_t line_begin = file_.line_starts[line];
    const bool own_line = OnlySpace(line_begin, comment.begin);
    std::vector<std::pair<uint32_t, uint32_t>> ranges = own_line ? std::vector<std::pair<uint32_t, uint32_t>>()
                                                                 : StartingIn(line_begin, comment.begin);
    if (ranges.empty()) {
      if (const Extent* around = InnermostHeader(comment.begin)) ranges = {{around->begin, around->end}};
    }
    if (ranges.empty() && own_line) ranges = NextAfter(comment.end);
    return ranges;
  }

 private:
  bool OnlySpace(uint32_t begin, uint32_t end) const {
    return std::all_of(file_.text.begin() + begin, file_.text.begin() + end, IsSpace);
  }
  std::vector<std::pair<uint32_t, uint32_t>> StartingIn(uint32_t begin, uint32_t end) const {
    std::vector<std::pair<uint32_t, uint32_t>> ranges;
    auto first = std::lower_bound(statements_.begin(), statements_.end(), begin,
                                  [](const Extent& s, uint32_t at) { return s.begin < at; });
    for (; first != statements_.end() && first->begin < end; ++first) ranges.emplace_back(first->begin, first->end);
    return ranges;
  }
  // The innermost statement around a place that is not inside its body.
  const Extent* InnermostHeader(uint32_t at) const {
    const Extent* innermost = nullptr;
    for (const Extent& statement : statements_) {
      if (statement.begin > at) break;
      if (at < statement.end) innermost = &statement;
      // A comment after the last bracket of a call lies outside the call's bytes but on its last line.
      if (at >= statement.end && statement.header_end == statement.end && OnLastLine(statement, at)) {
        innermost = &statement;
      }
    }
    return innermost != nullptr && (at < innermost->header_end || at >= innermost->end) ? innermost : nullptr;
  }
  bool OnLastLine(const Extent& statement, uint32_t at) const {
    return file_.text.find_first_of("\r\n", statement.end) >= at;
  }
  std::vector<std::pair<uint32_t, uint32_t>> NextAfter(uint32_t at) const {
    auto next = std::lower_bound(statements_.begin(), statements_.end(), at,
                                 [](const Extent& s, uint32_t offset) { return s.begin < offset; });
    if (next == statements_.end()) return {};
    const size_t line_end = std::min(file_.text.find_first_of("\r\n", next->begin), file_.text.size());
    return StartingIn(next->begin, static_cast<uint32_t>(line_end));
  }

  const source::SourceFile& file_;
  std::vector<Extent> statements_;
};

Text DirectiveProblem(const Directive& directive) {
  const std::string verb(directive.verb);
  if (directive.verb != "ignore" && directive.verb != "ignore-file") {
    return {"`allranks: {}` is no directive; write `allranks: ignore[CODE] reason` or `ignore-file[CODE]`", {verb}};
  }
  if (!directive.closed) return {"`allranks: {}[` lacks its closing bracket and suppresses nothing", {verb}};
  return {"`allranks: {}` names no code and suppresses nothing; write `{}[CODE] reason`", {verb, verb}};
}

Text UnknownCode(const KnownRules& rules, std::string_view code) {
  const std::string_view near = rules.nearest(code);
  if (near.empty()) return {"suppression of unknown code `{}`", {std::string(code)}};
  return {"suppression of unknown code `{}`; did you mean `{}`?", {std::string(code), std::string(near)}};
}

void AddEntries(const source::SourceFile& file, const FileSyntax& syntax, const FileScopes& scopes,
                const KnownRules& rules, const Extent& comment, std::vector<Entry>& entries) {
  const std::string_view text = std::string_view(file.text).substr(comment.begin, comment.end - comment.begin);
  const std::optional<Directive> directive = ParseDirective(text);
  if (!directive) return;
  const bool whole_file = directive->verb == "ignore-file";
  if ((directive->verb != "ignore" && !whole_file) || directive->codes.empty() || !directive->closed) {
    entries.push_back({.span = {syntax.file, comment.begin, comment.end}, .comment = comment.begin,
                       .problem = DirectiveProblem(*directive)});
    return;
  }
  for (const auto& [offset, code] : directive->codes) {
    const uint32_t begin = comment.begin + static_cast<uint32_t>(offset);
    Entry entry{.span = {syntax.file, begin, begin + static_cast<uint32_t>(code.size())},
                .comment = comment.begin, .whole_file = whole_file};
    entry.code = rules.code_of(code);
    if (entry.code.empty()) entry.problem = UnknownCode(rules, code);
    if (!whole_file) entry.ranges = scopes.CoveredBy(comment);
    entries.push_back(std::move(entry));
  }
}

bool Covers(const Entry& entry, const Finding& finding) {
  if (entry.code != finding.code) return false;
  if (entry.whole_file) return true;
  return std::any_of(entry.ranges.begin(), entry.ranges.end(), [&](const std::pair<uint32_t, uint32_t>& range) {
    return range.first <= finding.span.begin && finding.span.begin < range.second;
  });
}

Finding Complaint(const Entry& entry) {
  Finding finding{.code = kCode, .severity = Severity::Warning, .span = entry.span};
  finding.message = entry.problem ? *entry.problem : Text{"unused suppression of `{}`", {entry.code}};
  if (!entry.problem) {
    finding.help = {"remove the comment: allranks finds nothing here that it would silence", {}};
  }
  return finding;
}

// `ignore[AR101, AR002]` accepts that the other codes of the comment are idle.
bool AcceptsIdle(const std::vector<Entry>& entries, const Entry& idle) {
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.code == kCode && (entry.whole_file || entry.comment == idle.comment);
  });
}

void AddComplaints(const std::vector<Entry>& entries, const KnownRules& rules, std::vector<Finding>& findings) {
  for (const Entry& entry : entries) {
    const bool idle = !entry.used && entry.code != kCode && rules.ran(entry.code);
    if ((entry.problem || idle) && !AcceptsIdle(entries, entry)) findings.push_back(Complaint(entry));
  }
}

}  // namespace

size_t ApplySuppressions(const source::SourceFiles& files, std::span<const FileSyntax> syntax,
                         const KnownRules& rules, std::vector<Finding>& findings) {
  std::unordered_map<source::FileId, std::vector<Entry>> by_file;
  for (const FileSyntax& one : syntax) {
    if (files[one.file].text.find(kWord) == std::string::npos) continue;
    std::vector<Entry> entries;
    const FileScopes scopes(files[one.file], one);
    for (const Extent& comment : one.comments) AddEntries(files[one.file], one, scopes, rules, comment, entries);
    if (!entries.empty()) by_file.emplace(one.file, std::move(entries));
  }
  const size_t suppressed = std::erase_if(findings, [&](const Finding& finding) {
    const auto entries = by_file.find(finding.span.file);
    if (entries == by_file.end()) return false;
    bool covered = false;
    for (Entry& entry : entries->second) {
      if (Covers(entry, finding)) covered = entry.used = true;
    }
    return covered;
  });
  if (!rules.ran(kCode)) return suppressed;
  for (const FileSyntax& one : syntax) {
    const auto entries = by_file.find(one.file);
    if (entries != by_file.end()) AddComplaints(entries->second, rules, findings);
  }
  return suppressed;
}

}  // namespace allranks::findings
