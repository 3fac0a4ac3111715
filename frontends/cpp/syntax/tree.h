// tree-sitter's tree of a text of C, C++ or CUDA. It stands for any text: what does not fit the grammar are nodes of their own.
#pragma once

#include <tree_sitter/api.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/builder.h"

namespace allranks::cpp::syntax {

enum class Kind : uint8_t {
  Other,
#define NODE(kind, name) kind,
#include "frontends/cpp/syntax/kinds.def"
};

// A named node; no node at all is false.
class Node {
 public:
  Node() = default;
  explicit Node(TSNode node, std::string_view field = {}) : node_(node), field_(field) {}

  explicit operator bool() const { return !ts_node_is_null(node_); }
  Kind kind() const;
  uint32_t begin() const { return ts_node_start_byte(node_); }
  uint32_t end() const { return ts_node_end_byte(node_); }
  ir::Range range() const { return {begin(), end()}; }
  std::string_view TextIn(std::string_view text) const { return text.substr(begin(), end() - begin()); }
  // As what it stands in its parent, "condition"; only of those that `Children` gives.
  std::string_view field() const { return field_; }
  // The child that stands there as this.
  Node operator[](std::string_view field) const;
  // Named ones, comments left out.
  std::vector<Node> Children() const;
  // Whether a child is this word, named or not: `static`.
  bool HasWord(std::string_view word, std::string_view text) const;
  TSNode raw() const { return node_; }

 private:
  TSNode node_ = {};
  std::string_view field_;
};

class Tree {
 public:
  // Of a text that is too hard to parse there is none: false.
  explicit Tree(std::string_view text);

  explicit operator bool() const { return tree_ != nullptr; }
  Node root() const { return Node(ts_tree_root_node(tree_.get())); }

 private:
  std::unique_ptr<TSTree, void (*)(TSTree*)> tree_;
};

// Calls `visit` on the node and each one below, comments included, outer ones first.
template <class Visit>
void ForEachBelow(Node node, Visit&& visit) {
  TSTreeCursor cursor = ts_tree_cursor_new(node.raw());
  for (uint32_t depth = 0;;) {
    const TSNode here = ts_tree_cursor_current_node(&cursor);
    if (ts_node_is_named(here)) visit(Node(here));
    if (ts_tree_cursor_goto_first_child(&cursor)) {
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

}  // namespace allranks::cpp::syntax
