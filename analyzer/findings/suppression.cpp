#include "analyzer/findings/suppression.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>

#include "analyzer/base/lowered.h"
#include "analyzer/findings/directive.h"

namespace allranks::findings {
namespace {

constexpr std::string_view kCode = "AR002";
constexpr std::string_view kForOthers = "noqa:";

// One code of one comment.
struct Entry {
  std::string code;       // of the rule; empty if the comment is wrong and `problem` says how
  source::Span span;      // the code as written, for AR002
  source::Span comment;   // from its mark to the end of the directive
  std::string reason;
  std::vector<std::pair<uint32_t, uint32_t>> ranges;  // bytes it covers
  bool whole_file = false;
  bool used = false;
  bool is_unknown = false;    // no rule has this code
  std::optional<Text> problem;
  std::optional<Fix> fix;  // of the problem
};

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

class FileScopes {
 public:
  FileScopes(const source::SourceFile& file, const FileSyntax& syntax) : file_(file), statements_(syntax.statements) {
    std::sort(statements_.begin(), statements_.end(), [](const Extent& a, const Extent& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    FillParents();
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
    return std::all_of(file_.text.begin() + begin, file_.text.begin() + end, IsBlank);
  }
  std::vector<std::pair<uint32_t, uint32_t>> StartingIn(uint32_t begin, uint32_t end) const {
    std::vector<std::pair<uint32_t, uint32_t>> ranges;
    auto first = std::lower_bound(statements_.begin(), statements_.end(), begin,
                                  [](const Extent& s, uint32_t at) { return s.begin < at; });
    for (; first != statements_.end() && first->begin < end; ++first) ranges.emplace_back(first->begin, first->end);
    return ranges;
  }
  // Statements around a statement come before it.
  void FillParents() {
    std::vector<size_t> around;
    for (size_t i = 0; i < statements_.size(); ++i) {
      while (!around.empty() && statements_[around.back()].end <= statements_[i].begin) around.pop_back();
      parents_.push_back(around.empty() ? kNone : around.back());
      around.push_back(i);
    }
  }
  // The innermost statement around a place that is not inside its body.
  const Extent* InnermostHeader(uint32_t at) const {
    const auto behind = std::upper_bound(statements_.begin(), statements_.end(), at, [](uint32_t place, const Extent& s) { return place < s.begin; });
    size_t i = behind == statements_.begin() ? kNone : static_cast<size_t>(behind - statements_.begin()) - 1;
    // A comment after the last bracket of a call lies outside the call's bytes but on its last line.
    const bool is_behind = i != kNone && at >= statements_[i].end && statements_[i].header_end == statements_[i].end && OnLastLine(statements_[i], at);
    while (!is_behind && i != kNone && at >= statements_[i].end) i = parents_[i];
    if (i == kNone) return nullptr;
    const Extent& innermost = statements_[i];
    return at < innermost.header_end || at >= innermost.end ? &innermost : nullptr;
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
  static constexpr size_t kNone = ~size_t{0};
  std::vector<Extent> statements_;
  std::vector<size_t> parents_;  // by statement
};

constexpr std::array<std::string_view, 2> kVerbs = {"ignore", "ignore-file"};
// More than there are rules: nobody wrote such a list, and each of its codes would be complained about.
constexpr size_t kMostCodes = 128;
// Of one file: nobody reads more of them, and a text of some megabytes has hundreds of thousands.
constexpr size_t kMostComplaints = 1000;

Text DirectiveProblem(const Directive& directive) {
  const std::string verb(directive.verb);
  if (std::ranges::find(kVerbs, directive.verb) == kVerbs.end()) {
    return {"`allranks: {}` is no directive; write `allranks: ignore[CODE] reason` or `ignore-file[CODE]`", {verb}};
  }
  if (!directive.closed) return {"`allranks: {}[` lacks its closing bracket and suppresses nothing", {verb}};
  if (directive.codes.size() > kMostCodes) {
    return {"`allranks: {}` names more than {} codes and suppresses nothing", {verb, std::to_string(kMostCodes)}};
  }
  return {"`allranks: {}` names no code and suppresses nothing; write `{}[CODE] reason`", {verb, verb}};
}

Text UnknownCode(std::string_view near, std::string_view code) {
  if (near.empty()) return {"suppression of unknown code `{}`", {std::string(code)}};
  return {"suppression of unknown code `{}`; did you mean `{}`?", {std::string(code), std::string(near)}};
}

// To be reviewed: what comes into force hides a finding.
std::optional<Fix> Respell(const source::Span& span, std::string_view as) {
  if (as.empty()) return std::nullopt;
  return Fix{.title = "write `" + std::string(as) + "`", .applicability = Applicability::Unsafe,
             .edits = {{span, std::string(as)}}};
}

// Letters that differ where both words are equally long, or that one has more.
bool IsNear(std::string_view written, std::string_view verb) {
  const std::string word = base::Lowered(written);
  std::string sorted_word(word), sorted_verb(verb);
  std::ranges::sort(sorted_word);
  std::ranges::sort(sorted_verb);
  const size_t shorter = std::min(word.size(), verb.size()), longer = std::max(word.size(), verb.size());
  return sorted_word == sorted_verb || (longer - shorter <= 1 && std::string_view(word).substr(0, 3) == verb.substr(0, 3));
}

// `# noqa: AR101` is what other linters read: to us it would be silence that nobody meant.
std::optional<Entry> ForOthers(const FileSyntax& syntax, const KnownRules& rules, const Extent& comment, std::string_view text) {
  const size_t word = base::Lowered(text).find(kForOthers);
  if (word == std::string::npos) return std::nullopt;
  std::string codes;
  for (size_t at = text.find("AR", word); at != std::string_view::npos; at = text.find("AR", at + 1)) {
    const std::string_view code = text.substr(at, kCode.size());
    if (rules.code_of(code) == code) codes += (codes.empty() ? "" : ", ") + std::string(code);
  }
  if (codes.empty()) return std::nullopt;
  const source::Span span{syntax.file, comment.begin, comment.end};
  return Entry{.span = span, .comment = span,
               .problem = Text{"allranks does not read `noqa`; write `allranks: ignore[{}]`", {codes}}};
}

void AddEntries(const source::SourceFile& file, const FileSyntax& syntax, const FileScopes& scopes,
                const KnownRules& rules, const Extent& comment, std::vector<Entry>& entries) {
  const std::string_view text = std::string_view(file.text).substr(comment.begin, comment.end - comment.begin);
  const std::optional<Directive> directive = ParseDirective(text);
  if (!directive) {
    if (std::optional<Entry> wrong = ForOthers(syntax, rules, comment, text)) entries.push_back(std::move(*wrong));
    return;
  }
  const auto at = [&](size_t begin, size_t end) {
    return source::Span{syntax.file, comment.begin + static_cast<uint32_t>(begin), comment.begin + static_cast<uint32_t>(end)};
  };
  const source::Span whole = at(0, directive->end);
  const bool known_verb = std::ranges::find(kVerbs, directive->verb) != kVerbs.end();
  const bool is_sound = directive->closed && !directive->codes.empty() && directive->codes.size() <= kMostCodes;
  if (!known_verb || !is_sound) {
    Entry wrong{.span = at(0, text.size()), .comment = whole, .problem = DirectiveProblem(*directive)};
    const auto near = std::ranges::find_if(kVerbs, [&](std::string_view verb) { return IsNear(directive->verb, verb); });
    const source::Span verb = at(directive->verb_begin, directive->verb_begin + directive->verb.size());
    if (!known_verb && near != kVerbs.end() && !directive->codes.empty()) wrong.fix = Respell(verb, *near);
    entries.push_back(std::move(wrong));
    return;
  }
  const bool whole_file = directive->verb == "ignore-file";
  const std::vector<std::pair<uint32_t, uint32_t>> ranges = whole_file ? std::vector<std::pair<uint32_t, uint32_t>>() : scopes.CoveredBy(comment);
  for (const auto& [offset, code] : directive->codes) {
    Entry entry{.span = at(offset, offset + code.size()), .comment = whole};
    entry.code = rules.code_of(code);
    entry.is_unknown = entry.code.empty();
    if (!entry.is_unknown) {
      entry.reason = directive->reason;
      entry.ranges = ranges;
      entry.whole_file = whole_file;
    }
    entries.push_back(std::move(entry));
  }
}

// The entries of a file, by what they cover. Marks those that cover a finding as used.
class Coverage {
 public:
  explicit Coverage(std::vector<Entry>& entries) : entries_(entries) {
    for (uint32_t i = 0; i < entries.size(); ++i) Add(i);
    for (auto& [code, of_code] : codes_) Sort(of_code);
  }

  // The first of them; none: nullptr.
  const Entry* Use(const Finding& finding) {
    const auto of_code = codes_.find(finding.code);
    if (of_code == codes_.end()) return nullptr;
    uint32_t first = kNone;
    UseAll(of_code->second.whole_file, first);
    std::vector<Range>& ranges = of_code->second.ranges;
    const auto behind = std::ranges::upper_bound(ranges, finding.span.begin, {}, &Range::begin);
    uint32_t i = behind == ranges.begin() ? kNone : static_cast<uint32_t>(behind - ranges.begin()) - 1;
    while (i != kNone) {
      if (finding.span.begin < ranges[i].end) UseAll(ranges[i].entries, first);
      i = ranges[i].around;
    }
    return first == kNone ? nullptr : &entries_[first];
  }

 private:
  static constexpr uint32_t kNone = ~0u;

  // Some that cover the same: the first of them all, and those that are not marked yet.
  struct Same {
    uint32_t first = kNone;
    std::vector<uint32_t> unused;
  };
  struct Range {
    uint32_t begin = 0;
    uint32_t end = 0;
    Same entries = {};
    uint32_t around = kNone;  // the innermost range that this one lies in, which comes before it
  };
  struct OfCode {
    Same whole_file;
    std::vector<Range> ranges;
  };

  static void AddTo(Same& same, uint32_t entry) {
    same.first = std::min(same.first, entry);
    same.unused.push_back(entry);
  }

  void Add(uint32_t i) {
    const Entry& entry = entries_[i];
    if (entry.code.empty()) return;
    OfCode& of_code = codes_[entry.code];
    if (entry.whole_file) AddTo(of_code.whole_file, i);
    for (const auto& [begin, end] : entry.ranges) {
      of_code.ranges.push_back({.begin = begin, .end = end});
      AddTo(of_code.ranges.back().entries, i);
    }
  }

  // Statements lie in one another or apart, and so do these.
  static void Sort(OfCode& of_code) {
    std::ranges::stable_sort(of_code.ranges, [](const Range& a, const Range& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
    std::vector<Range> merged;
    std::vector<uint32_t> around;
    for (Range& range : of_code.ranges) {
      if (!merged.empty() && merged.back().begin == range.begin && merged.back().end == range.end) {
        AddTo(merged.back().entries, range.entries.first);
        continue;
      }
      while (!around.empty() && merged[around.back()].end <= range.begin) around.pop_back();
      range.around = around.empty() ? kNone : around.back();
      around.push_back(static_cast<uint32_t>(merged.size()));
      merged.push_back(std::move(range));
    }
    of_code.ranges = std::move(merged);
  }

  void UseAll(Same& same, uint32_t& first) {
    first = std::min(first, same.first);
    for (const uint32_t entry : same.unused) entries_[entry].used = true;
    same.unused.clear();
  }

  std::vector<Entry>& entries_;
  std::map<std::string_view, OfCode> codes_;
};

// The comment with the space before it; a comment on a line of its own with its line.
Edit RemovalOf(const source::SourceFile& file, const source::Span& comment) {
  source::Span span = comment;
  while (span.begin > 0 && IsBlank(file.text[span.begin - 1])) --span.begin;
  const bool own_line = span.begin == 0 || file.text[span.begin - 1] == '\n' || file.text[span.begin - 1] == '\r';
  const size_t line_end = std::min(file.text.find_first_of("\r\n", comment.end), file.text.size());
  const bool is_last = comment.end == line_end;
  if (!is_last) return {{comment.file, comment.begin, comment.end}, ""};
  if (own_line && line_end < file.text.size()) {
    span.end = static_cast<uint32_t>(line_end + (file.text.compare(line_end, 2, "\r\n") == 0 ? 2 : 1));
  }
  return {span, ""};
}

// Takes the code out of its list, or the comment out of the file if nothing of it is left. `codes`: the entries of one
// comment, of which the one at `index` is idle.
Fix RemovalFix(const source::SourceFile& file, std::span<const Entry> codes, size_t index, bool all_idle) {
  const Entry& idle = codes[index];
  if (all_idle) {
    return {.title = "remove the comment", .applicability = Applicability::Safe, .edits = {RemovalOf(file, idle.comment)}};
  }
  source::Span span = idle.span;
  if (index > 0) span.begin = codes[index - 1].span.end;
  else span.end = codes[index + 1].span.begin;
  return {.title = "remove `" + idle.code + "` from the comment", .applicability = Applicability::Safe, .edits = {{span, ""}}};
}

Finding Complaint(const Entry& entry, Text message) {
  return {.code = kCode, .severity = Severity::Warning, .span = entry.span, .message = std::move(message)};
}

void AddUnknown(const source::SourceFile& file, const Entry& entry, const KnownRules& rules, std::vector<Finding>& findings) {
  const std::string_view code = std::string_view(file.text).substr(entry.span.begin, entry.span.end - entry.span.begin);
  const std::string_view near = rules.nearest(code);
  findings.push_back(Complaint(entry, UnknownCode(near, code)));
  if (const std::optional<Fix> fix = Respell(entry.span, near)) findings.back().fixes = {*fix};
}

void AddComplaint(const source::SourceFile& file, std::span<const Entry> codes, size_t index, bool is_idle, bool all_idle,
                  bool require_reason, const KnownRules& rules, std::vector<Finding>& findings) {
  const Entry& entry = codes[index];
  if (entry.is_unknown) {
    AddUnknown(file, entry, rules, findings);
  } else if (entry.problem) {
    findings.push_back(Complaint(entry, *entry.problem));
    if (entry.fix) findings.back().fixes = {*entry.fix};
  } else if (is_idle) {
    findings.push_back(Complaint(entry, {"unused suppression of `{}`", {entry.code}}));
    findings.back().help = {"remove the comment: allranks finds nothing here that it would silence", {}};
    findings.back().fixes = {RemovalFix(file, codes, index, all_idle)};
  } else if (require_reason && entry.reason.empty()) {
    findings.push_back(Complaint(entry, {"suppression of `{}` without a reason", {entry.code}}));
    findings.back().help = {"say behind the bracket why the finding is accepted", {}};
  }
}

// What is wrong with the entries of one comment. `ignore[AR101, AR002]` accepts what is wrong with its other codes.
void AddComplaints(const source::SourceFile& file, source::FileId id, std::span<const Entry> codes, const KnownRules& rules,
                   std::vector<Finding>& findings) {
  if (std::ranges::any_of(codes, [](const Entry& entry) { return entry.code == kCode; })) return;
  const bool require_reason = rules.require_reason && rules.require_reason(id);
  const auto is_idle = [&](const Entry& entry) { return !entry.problem && !entry.is_unknown && !entry.used && rules.ran(id, entry.code); };
  const bool all_idle = std::ranges::all_of(codes, is_idle);
  for (size_t i = 0; i < codes.size(); ++i) AddComplaint(file, codes, i, is_idle(codes[i]), all_idle, require_reason, rules, findings);
}

// Of a whole file: entries of one comment stand side by side.
void AddAllComplaints(const source::SourceFile& file, source::FileId id, const std::vector<Entry>& entries, const KnownRules& rules,
                      std::vector<Finding>& findings) {
  const bool is_accepted = std::ranges::any_of(entries, [](const Entry& entry) { return entry.whole_file && entry.code == kCode; });
  if (is_accepted) return;
  const size_t before = findings.size();
  for (size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
    if (findings.size() - before >= kMostComplaints) {
      findings.push_back(Complaint(entries[begin], {"more than {} comments of this file suppress nothing or lack a reason; those from here on were not looked at",
                                                    {std::to_string(kMostComplaints)}}));
      return;
    }
    while (end < entries.size() && entries[end].comment == entries[begin].comment) ++end;
    AddComplaints(file, id, std::span(entries).subspan(begin, end - begin), rules, findings);
  }
}

// Whatever the case of the word's first letter.
bool MayHaveDirectives(std::string_view text) {
  return text.find(kDirectiveWord.substr(1)) != std::string_view::npos || text.find("ALLRANKS:") != std::string_view::npos ||
         text.find(kForOthers) != std::string_view::npos;
}

}  // namespace

std::vector<Suppressed> ApplySuppressions(const source::SourceFiles& files, std::span<const FileSyntax> syntax,
                         const KnownRules& rules, std::vector<Finding>& findings) {
  std::unordered_map<source::FileId, std::vector<Entry>> by_file;
  std::unordered_map<source::FileId, Coverage> coverage;
  for (const FileSyntax& one : syntax) {
    if (!MayHaveDirectives(files[one.file].text)) continue;
    std::vector<Entry> entries;
    const FileScopes scopes(files[one.file], one);
    for (const Extent& comment : one.comments) AddEntries(files[one.file], one, scopes, rules, comment, entries);
    if (entries.empty()) continue;
    const auto [known, is_new] = by_file.emplace(one.file, std::move(entries));
    if (is_new) coverage.emplace(one.file, Coverage(known->second));
  }
  std::vector<Suppressed> suppressed;
  std::vector<Finding> left;
  for (Finding& finding : findings) {
    const Entry* by = nullptr;
    if (const auto of_file = coverage.find(finding.span.file); of_file != coverage.end()) by = of_file->second.Use(finding);
    if (by == nullptr) left.push_back(std::move(finding));
    else suppressed.push_back({std::move(finding), by->reason, by->comment});
  }
  findings = std::move(left);
  for (const FileSyntax& one : syntax) {
    const auto entries = by_file.find(one.file);
    if (entries != by_file.end() && rules.ran(one.file, kCode)) AddAllComplaints(files[one.file], one.file, entries->second, rules, findings);
  }
  return suppressed;
}

}  // namespace allranks::findings
