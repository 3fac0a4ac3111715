#include "frontends/python/cursor.h"

namespace allranks::python {

bool Cursor::HasErrorChild() { return has_error() && HasChild(Kind::Error); }

bool Cursor::HasChild(Kind kind) {
  if (!ts_tree_cursor_goto_first_child(&cursor_)) return false;
  bool found = false;
  do {
    const TSNode child = ts_tree_cursor_current_node(&cursor_);
    found = kinds_.Of(ts_node_symbol(child)) == kind;
  } while (!found && ts_tree_cursor_goto_next_sibling(&cursor_));
  ts_tree_cursor_goto_parent(&cursor_);
  return found;
}

uint32_t Cursor::CountChildren(uint32_t most) {
  if (!ts_tree_cursor_goto_first_child(&cursor_)) return 0;
  uint32_t count = 0;
  do {
    const Kind kind = kinds_.Of(ts_node_symbol(ts_tree_cursor_current_node(&cursor_)));
    count += kind == Kind::Comment || kind == Kind::LineContinuation ? 0 : 1;
  } while (count < most && ts_tree_cursor_goto_next_sibling(&cursor_));
  ts_tree_cursor_goto_parent(&cursor_);
  return count;
}

void Cursor::NoteCommentsBelow() {
  uint32_t depth = 0;
  for (;;) {
    if (ts_tree_cursor_goto_first_child(&cursor_)) {
      ++depth;
    } else {
      while (depth > 0 && !ts_tree_cursor_goto_next_sibling(&cursor_)) {
        ts_tree_cursor_goto_parent(&cursor_);
        --depth;
      }
      if (depth == 0) break;
    }
    Load();
    IsBetweenTokens();
  }
  Load();
}

}  // namespace allranks::python
