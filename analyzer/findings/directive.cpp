#include "analyzer/findings/directive.h"

#include <algorithm>

#include "analyzer/base/lowered.h"

namespace allranks::findings {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t'; }

std::string_view Trimmed(std::string_view text, size_t& offset) {
  while (!text.empty() && IsSpace(text.front())) {
    text.remove_prefix(1);
    ++offset;
  }
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

// Where the next comment begins: `# noqa`, but not `#12`, the number of an issue.
size_t NextComment(std::string_view comment, size_t at) {
  while ((at = comment.find('#', at)) != std::string_view::npos) {
    const bool is_number = at + 1 < comment.size() && comment[at + 1] >= '0' && comment[at + 1] <= '9';
    if (!is_number) return at;
    ++at;
  }
  return comment.size();
}

// What stands behind the list, up to the end of the comment or the next one in it.
void ReadReason(std::string_view comment, Directive& directive) {
  const size_t begin = directive.close + 1;
  directive.end = NextComment(comment, begin);
  std::string_view rest = comment.substr(begin, directive.end - begin);
  if (comment.starts_with("/*") && rest.ends_with("*/")) rest.remove_suffix(2);
  size_t offset = begin;
  directive.reason = Trimmed(rest, offset);
}

}  // namespace

std::optional<Directive> ParseDirective(std::string_view comment) {
  size_t at = 0;
  while (at < comment.size() && (comment[at] == '#' || comment[at] == '/' || comment[at] == '*' || IsSpace(comment[at]))) ++at;
  if (base::Lowered(comment.substr(at, kDirectiveWord.size())) != kDirectiveWord) return std::nullopt;
  const bool is_spelt_so = comment.substr(at).starts_with(kDirectiveWord);
  at += kDirectiveWord.size();
  while (at < comment.size() && IsSpace(comment[at])) ++at;
  const size_t verb = at;
  while (at < comment.size() && !IsSpace(comment[at]) && comment[at] != '[') ++at;
  Directive directive{.verb = comment.substr(verb, at - verb), .verb_begin = verb, .end = comment.size()};
  while (at < comment.size() && IsSpace(comment[at])) ++at;
  if (at >= comment.size() || comment[at] != '[') return is_spelt_so ? std::optional(directive) : std::nullopt;
  directive.has_list = true;
  directive.close = comment.find(']', at);
  directive.closed = directive.close != std::string_view::npos;
  if (!directive.closed) return directive;
  for (size_t begin = at + 1; begin <= directive.close;) {
    const size_t end = std::min(directive.close, comment.find(',', begin));
    size_t offset = begin;
    const std::string_view code = Trimmed(comment.substr(begin, end - begin), offset);
    if (!code.empty()) directive.codes.emplace_back(offset, code);
    begin = end + 1;
  }
  ReadReason(comment, directive);
  return directive;
}

}  // namespace allranks::findings
