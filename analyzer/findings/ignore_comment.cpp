#include "analyzer/findings/ignore_comment.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "analyzer/base/innermost.h"
#include "analyzer/findings/directive.h"

namespace allranks::findings {
namespace {

struct Line {
  uint32_t begin = 0;
  uint32_t end = 0;  // before its end-of-line signs
};

Line LineAt(const source::SourceFile& file, uint32_t offset) {
  const uint32_t begin = file.line_starts[source::Locate(file, offset).line];
  return {begin, static_cast<uint32_t>(std::min(file.text.find_first_of("\r\n", offset), file.text.size()))};
}

std::vector<Extent> InOrder(std::vector<Extent> extents) {
  std::ranges::stable_sort(extents, {}, &Extent::begin);
  return extents;
}

std::vector<base::Innermost::Range> RangesOf(const std::vector<Extent>& extents) {
  std::vector<base::Innermost::Range> ranges;
  for (const Extent& extent : extents) ranges.push_back({extent.begin, extent.end});
  return ranges;
}

// Those of a list in order that begin in a line.
std::span<const Extent> BeginningIn(const std::vector<Extent>& extents, const Line& line) {
  const auto begin = std::ranges::lower_bound(extents, line.begin, {}, &Extent::begin);
  const auto end = std::ranges::lower_bound(begin, extents.end(), line.end, {}, &Extent::begin);
  return {begin, end};
}

// What stands where in a file.
class Places {
 public:
  Places(const source::SourceFile& file, const FileSyntax& syntax)
      : file_(file), can_have_comments_(!syntax.comment_mark.empty()), statements_(InOrder(syntax.statements)), comments_(InOrder(syntax.comments)),
        innermost_(RangesOf(statements_)) {}

  // The innermost statement around a place; none, or none that can have a comment: nullptr.
  const Extent* StatementAt(uint32_t offset) const {
    const uint32_t found = can_have_comments_ ? innermost_.At(offset) : base::Innermost::kNone;
    return found == base::Innermost::kNone ? nullptr : &statements_[found];
  }

  // Whether a comment may stand at the end of the line: all that starts there ends there, or goes on in a block.
  bool TakesComment(const Line& line) const {
    if (line.end > line.begin && file_.text[line.end - 1] == '\\') return false;
    return std::ranges::none_of(BeginningIn(statements_, line), [&](const Extent& statement) { return statement.header_end > line.end; });
  }

  const Extent* CommentIn(const Line& line) const {
    const std::span<const Extent> found = BeginningIn(comments_, line);
    return found.empty() ? nullptr : &found.front();
  }

 private:
  const source::SourceFile& file_;
  bool can_have_comments_;
  std::vector<Extent> statements_, comments_;
  base::Innermost innermost_;
};

std::string Joined(const std::vector<std::string_view>& codes) {
  std::string out;
  for (const std::string_view code : codes) out += (out.empty() ? "" : ", ") + std::string(code);
  return out;
}

std::string CommentText(const FileSyntax& syntax, const std::vector<std::string_view>& codes, std::string_view reason) {
  std::string out = std::string(syntax.comment_mark) + " allranks: ignore[" + Joined(codes) + "]";
  return reason.empty() ? out : out + " " + std::string(reason);
}

std::string_view LineBreakOf(const source::SourceFile& file, const Line& line) {
  const std::string_view rest = std::string_view(file.text).substr(line.end);
  return rest.starts_with("\r\n") ? "\r\n" : rest.starts_with('\r') ? "\r" : "\n";
}

Edit LineAbove(const source::SourceFile& file, const Line& line, const std::string& comment) {
  const std::string_view text = std::string_view(file.text).substr(line.begin, line.end - line.begin);
  const std::string_view indent = text.substr(0, std::min(text.find_first_not_of(" \t"), text.size()));
  return {.span = {source::FileId::None(), line.begin, line.begin},
          .replacement = std::string(indent) + comment + std::string(LineBreakOf(file, line))};
}

std::optional<Edit> EditAt(const source::SourceFile& file, const FileSyntax& syntax, const Places& places, uint32_t offset,
                           std::vector<std::string_view> codes, std::string_view reason) {
  const Extent* statement = places.StatementAt(offset);
  if (statement == nullptr) return std::nullopt;
  std::ranges::sort(codes);
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  const Line line = LineAt(file, statement->begin);
  Edit edit;
  if (const Extent* comment = places.CommentIn(line)) {
    const auto text = std::string_view(file.text).substr(comment->begin, comment->end - comment->begin);
    const std::optional<Directive> directive = ParseDirective(text);
    if (directive && directive->verb == "ignore" && directive->closed && !directive->codes.empty()) {
      std::erase_if(codes, [&](std::string_view code) {
        return std::ranges::find(directive->codes, code, [](const auto& listed) { return listed.second; }) != directive->codes.end();
      });
      const auto at = comment->begin + static_cast<uint32_t>(directive->close);
      edit = {.span = {syntax.file, at, at}, .replacement = ", " + Joined(codes)};
    } else {
      edit = LineAbove(file, line, CommentText(syntax, codes, reason));
    }
  } else if (places.TakesComment(line)) {
    edit = {.span = {syntax.file, line.end, line.end}, .replacement = "  " + CommentText(syntax, codes, reason)};
  } else {
    edit = LineAbove(file, line, CommentText(syntax, codes, reason));
  }
  edit.span.file = syntax.file;
  return edit;
}

}  // namespace

std::optional<Edit> IgnoreEdit(const source::SourceFile& file, const FileSyntax& syntax, uint32_t offset,
                               std::vector<std::string_view> codes, std::string_view reason) {
  return EditAt(file, syntax, Places(file, syntax), offset, std::move(codes), reason);
}

IgnoreEdits IgnoreAll(const source::SourceFile& file, const FileSyntax& syntax, const std::vector<const Finding*>& findings,
                      std::string_view reason) {
  IgnoreEdits out;
  const Places places(file, syntax);
  // By the line that the comment will speak of: two statements of one line have one comment.
  std::map<uint32_t, std::pair<uint32_t, std::vector<std::string_view>>> by_line;
  for (size_t i = 0; i < findings.size(); ++i) {
    const Extent* statement = places.StatementAt(findings[i]->span.begin);
    if (statement == nullptr) {
      out.missed.push_back(i);
      continue;
    }
    auto& [offset, codes] = by_line[LineAt(file, statement->begin).begin];
    offset = findings[i]->span.begin;
    codes.push_back(findings[i]->code);
  }
  for (const auto& [line, where] : by_line) {
    if (std::optional<Edit> edit = EditAt(file, syntax, places, where.first, where.second, reason)) out.edits.push_back(*edit);
  }
  return out;
}

}  // namespace allranks::findings
