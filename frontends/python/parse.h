#pragma once

#include <tree_sitter/api.h>

#include <functional>
#include <memory>
#include <string_view>

namespace allranks::python {

struct TreeDeleter {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
using Tree = std::unique_ptr<TSTree, TreeDeleter>;

// A parser for one thread.
class Parser {
 public:
  // `is_over`: whether to give up, and must live as long; what parses then throws GivenUp (lower.h).
  explicit Parser(const std::function<bool()>& is_over);
  ~Parser() { ts_parser_delete(parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // Parses bytes [begin, end) of `text`; offsets in the tree count from the start of `text`. None if the
  // text, which is then no Python, would take more work than any program does.
  Tree Parse(std::string_view text, uint32_t begin, uint32_t end);
  // The same of a whole text that came about by edits of `old_text`, whose tree is `old_tree`.
  Tree ParseEdited(std::string_view text, std::string_view old_text, TSTree* old_tree);

 private:
  Tree Run(std::string_view text, size_t size, const TSTree* old_tree);

  const std::function<bool()>& is_over_;
  TSParser* parser_ = nullptr;
};

// Whether the parser can hold the text's indentation: it keeps all open levels in a fixed buffer, and writes
// past the end of it when there are too many.
bool IndentsTooDeep(std::string_view text);

}  // namespace allranks::python
