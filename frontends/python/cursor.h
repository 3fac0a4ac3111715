#pragma once

#include <tree_sitter/api.h>

#include "analyzer/ir/builder.h"
#include "frontends/python/grammar.h"

namespace allranks::python {

// Walks a syntax tree. Comments and line continuations may stand between any two tokens: the cursor shows
// none of them, and hands comments to the builder as it meets them.
class Cursor {
 public:
  Cursor(TSNode root, ir::Builder* builder)
      : kinds_(KindTable::Get()), builder_(*builder), cursor_(ts_tree_cursor_new(root)) {
    Load();
  }
  ~Cursor() { ts_tree_cursor_delete(&cursor_); }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  Kind kind() const { return kind_; }
  uint32_t begin() const { return begin_; }
  uint32_t end() const { return end_; }
  ir::Range range() const { return {begin_, end_}; }

  // To the first child; false, without moving, if there is none.
  bool Down() {
    if (!ts_tree_cursor_goto_first_child(&cursor_)) return false;
    Load();
    if (!IsBetweenTokens() || Next()) return true;
    Up();
    return false;
  }
  // To the next sibling; false, without moving, if there is none.
  bool Next() {
    do {
      if (!ts_tree_cursor_goto_next_sibling(&cursor_)) return false;
      Load();
    } while (IsBetweenTokens());
    return true;
  }
  void Up() {
    ts_tree_cursor_goto_parent(&cursor_);
    Load();
  }

  // Calls `visit(kind)` on each child and comes back.
  template <class Visit>
  void ForEachChild(Visit&& visit) {
    if (!Down()) return;
    do {
      visit(kind_);
    } while (Next());
    Up();
  }

  // Whether anything in or under the node could not be parsed.
  bool has_error() const { return ts_node_has_error(node_); }
  // Whether a child is what the parser could not fit.
  bool HasErrorChild();
  bool HasChild(Kind kind);
  // How many children it would show; stops counting at `most`.
  uint32_t CountChildren(uint32_t most);
  // Hands the comments of the whole subtree over.
  void NoteCommentsBelow();

 private:
  void Load() {
    node_ = ts_tree_cursor_current_node(&cursor_);
    kind_ = kinds_.Of(ts_node_symbol(node_));
    begin_ = ts_node_start_byte(node_);
    end_ = ts_node_end_byte(node_);
  }
  bool IsBetweenTokens() {
    if (kind_ == Kind::Comment) builder_.AddComment(range());
    return kind_ == Kind::Comment || kind_ == Kind::LineContinuation;
  }

  const KindTable& kinds_;
  ir::Builder& builder_;
  TSTreeCursor cursor_;
  TSNode node_ = {};
  Kind kind_ = Kind::Other;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
};

}  // namespace allranks::python
