#include "frontends/python/syntax_errors.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "frontends/python/grammar.h"

namespace allranks::python {
namespace {

// As much of the text as a message can show.
constexpr size_t kLongestToken = 24;

// The word or sign at a place, for a person to find it.
std::string_view TokenAt(std::string_view text, size_t offset) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c >= 0x80; };
  size_t end = offset;
  while (end < text.size() && end - offset < kLongestToken && is_word(static_cast<unsigned char>(text[end])))
    ++end;
  if (end == offset && end < text.size() && std::isprint(static_cast<unsigned char>(text[end])) != 0) ++end;
  return text.substr(offset, end - offset);
}

std::string Unexpected(std::string_view token) {
  if (token.empty()) return "invalid syntax";
  if (token == "\"" || token == "'") return "string is never closed";
  return "unexpected `" + std::string(token) + "`";
}

std::string Expected(TSNode missing) {
  if (ts_node_is_named(missing)) return "expected an expression";
  return "expected `" + std::string(ts_node_type(missing)) + "`";
}

bool HasErrorBelow(TSNode node) {
  const uint32_t count = ts_node_child_count(node);
  TSTreeCursor cursor = ts_tree_cursor_new(node);
  bool found = false;
  if (count > 0 && ts_tree_cursor_goto_first_child(&cursor)) {
    do {
      const TSNode child = ts_tree_cursor_current_node(&cursor);
      // A single character that fits nowhere does not count as having an error.
      found = ts_node_has_error(child) || ts_node_is_error(child);
    } while (!found && ts_tree_cursor_goto_next_sibling(&cursor));
  }
  ts_tree_cursor_delete(&cursor);
  return found;
}

// Calls `visit(node, is_innermost)` on the nodes that are wrong themselves, in order, until it returns false.
template <class Visit>
void ForEachError(TSNode root, Visit&& visit) {
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  uint32_t depth = 0;
  for (;;) {
    const TSNode node = ts_tree_cursor_current_node(&cursor);
    const bool is_wrong = ts_node_is_missing(node) || ts_node_is_error(node);
    const bool is_innermost = is_wrong && !HasErrorBelow(node);
    if (is_wrong && !visit(node, is_innermost)) break;
    if (!is_innermost && ts_node_has_error(node) && ts_tree_cursor_goto_first_child(&cursor)) {
      ++depth;
      continue;
    }
    while (depth > 0 && !ts_tree_cursor_goto_next_sibling(&cursor)) {
      ts_tree_cursor_goto_parent(&cursor);
      --depth;
    }
    if (depth == 0) break;
  }
  ts_tree_cursor_delete(&cursor);
}

bool MaySpanLines(Kind kind) {
  switch (kind) {
    case Kind::Module:
    case Kind::Block:
    case Kind::Error:
    case Kind::ArgumentList:
    case Kind::Parameters:
    case Kind::ParenthesizedExpression:
    case Kind::Subscript:
    case Kind::Call:
      return true;
    default:
      return (kind >= Kind::IfStatement && kind <= Kind::MatchStatement) ||
             (kind >= Kind::List && kind <= Kind::GeneratorExpression);
  }
}

// Whether the parser went on behind an error into the next line, and took it for the same statement.
bool SwallowsNextLine(TSNode error, std::string_view text) {
  const TSNode parent = ts_node_parent(error);
  const TSNode next = ts_node_next_sibling(error);
  if (ts_node_is_null(parent) || ts_node_is_null(next)) return false;
  if (MaySpanLines(KindTable::Get().Of(ts_node_symbol(parent)))) return false;
  const uint32_t end = ts_node_end_byte(error);
  return text.substr(end, ts_node_start_byte(next) - end).find('\n') != std::string_view::npos;
}

// Whether a statement broke off at the end of its line: the parser then gives up all of it.
bool IsWholeLine(TSNode error, std::string_view text) {
  const uint32_t begin = ts_node_start_byte(error);
  const uint32_t end = ts_node_end_byte(error);
  if (ts_node_child_count(error) < 2 ||
      text.substr(begin, end - begin).find('\n') != std::string_view::npos) {
    return false;
  }
  const size_t before = text.find_last_not_of(" \t\f", begin == 0 ? 0 : begin - 1);
  const size_t after = text.find_first_not_of(" \t\f\r", end);
  // A clause without its statement broke off nowhere.
  if (text[end - 1] == ':') return false;
  const bool starts_line = begin == 0 || before == std::string_view::npos || text[before] == '\n';
  return starts_line && (after == std::string_view::npos || text[after] == '\n' || text[after] == '#');
}

// On its first line only.
SyntaxError Describe(TSNode node, std::string_view text) {
  const uint32_t begin = ts_node_start_byte(node);
  if (ts_node_is_missing(node)) return {.range = {begin, begin}, .text = Expected(node)};
  const uint32_t line_end = static_cast<uint32_t>(std::min(text.find('\n', begin), text.size()));
  const uint32_t end = std::max(begin, std::min(ts_node_end_byte(node), line_end));
  if (IsWholeLine(node, text)) return {.range = {begin, end}, .text = "unexpected end of line"};
  return {.range = {begin, end}, .text = Unexpected(TokenAt(text, begin))};
}

}  // namespace

void AddSyntaxError(SyntaxError error, ir::Builder* builder) {
  if (builder->module().problems.size() >= kMostProblems) return;
  builder->AddProblem(ir::ProblemKind::Syntax, error.range, std::move(error.text));
}

void AddSyntaxErrors(TSNode root, std::string_view text, ir::Builder* builder) {
  if (!ts_node_has_error(root)) return;
  // One mistake makes several errors; the first of a line tells enough.
  size_t quiet_until = 0;
  ForEachError(root, [&](TSNode node, bool is_innermost) {
    SyntaxError error = Describe(node, text);
    if (!is_innermost || error.range.begin < quiet_until) return true;
    quiet_until = std::min(text.find('\n', error.range.begin), text.size());
    AddSyntaxError(std::move(error), builder);
    return builder->module().problems.size() < kMostProblems;
  });
}

std::vector<uint32_t> ErrorPlaces(TSNode root, size_t most) {
  std::vector<uint32_t> places;
  if (!ts_node_has_error(root)) return places;
  ForEachError(root, [&](TSNode node, bool /*is_innermost*/) {
    places.push_back(ts_node_start_byte(node));
    return places.size() < most;
  });
  return places;
}

std::optional<SyntaxError> SpreadErrorIn(TSNode root, std::string_view text) {
  if (!ts_node_has_error(root)) return {};
  bool is_spread = false;
  std::optional<SyntaxError> first;
  ForEachError(root, [&](TSNode node, bool is_innermost) {
    const uint32_t begin = ts_node_start_byte(node);
    const std::string_view inside = text.substr(begin, ts_node_end_byte(node) - begin);
    is_spread = is_spread || inside.find('\n') != std::string_view::npos;
    is_spread = is_spread || (!first && SwallowsNextLine(node, text));
    if (is_innermost && !first) first = Describe(node, text);
    return !(is_spread && first);
  });
  return is_spread ? first : std::nullopt;
}

}  // namespace allranks::python
