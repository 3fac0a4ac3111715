#include "frontends/python/syntax_errors.h"

#include <algorithm>
#include <string>

#include "frontends/python/grammar.h"

namespace allranks::python {
namespace {

// As much of the text as a message can show.
constexpr size_t kLongestToken = 24;

class SyntaxErrors {
 public:
  SyntaxErrors(std::string_view text, ir::Builder* builder) : text_(text), builder_(*builder) {}

  void Walk(TSNode root) {
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    uint32_t depth = 0;
    while (builder_.module().problems.size() < kMostProblems) {
      const TSNode node = ts_tree_cursor_current_node(&cursor);
      if (Enter(node) && ts_tree_cursor_goto_first_child(&cursor)) {
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

 private:
  // Reports the node if it is wrong itself; true if something below it may be.
  bool Enter(TSNode node) {
    if (!ts_node_has_error(node)) return false;
    if (ts_node_is_missing(node)) {
      Add(ts_node_start_byte(node), ts_node_start_byte(node), "expected " + Expected(node));
      return false;
    }
    if (!ts_node_is_error(node)) return true;
    const uint32_t begin = ts_node_start_byte(node);
    const std::string_view token = TokenAt(begin);
    Add(begin, ts_node_end_byte(node), token.empty() ? "invalid syntax" : "unexpected `" + std::string(token) + "`");
    return false;
  }

  static std::string Expected(TSNode missing) {
    if (ts_node_is_named(missing)) return "an expression";
    return "`" + std::string(ts_node_type(missing)) + "`";
  }

  // The word or sign at a place, for a person to find it.
  std::string_view TokenAt(uint32_t offset) const {
    const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c >= 0x80; };
    size_t end = offset;
    while (end < text_.size() && end - offset < kLongestToken && is_word(static_cast<unsigned char>(text_[end]))) ++end;
    if (end == offset && end < text_.size() && std::isprint(static_cast<unsigned char>(text_[end])) != 0) ++end;
    return text_.substr(offset, end - offset);
  }

  // One mistake makes several errors; the first of a line tells enough.
  void Add(uint32_t begin, uint32_t end, std::string text) {
    const size_t line_end = std::min(text_.find('\n', begin), text_.size());
    if (begin < quiet_until_) return;
    quiet_until_ = static_cast<uint32_t>(line_end);
    end = std::max(begin, std::min(end, quiet_until_));
    builder_.AddProblem(ir::ProblemKind::Syntax, {begin, end}, std::move(text));
  }

  const std::string_view text_;
  ir::Builder& builder_;
  uint32_t quiet_until_ = 0;
};

}  // namespace

void AddSyntaxErrors(TSNode root, std::string_view text, ir::Builder* builder) {
  if (ts_node_has_error(root)) SyntaxErrors(text, builder).Walk(root);
}

}  // namespace allranks::python
