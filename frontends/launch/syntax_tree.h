// tree-sitter's tree of a shell script.
#pragma once

#include <tree_sitter/api.h>

#include <string>
#include <string_view>
#include <vector>

namespace allranks::launch_files {

// The text as it is parsed: arguments that stand side by side and are nothing but letters, digits, signs of names and variables, from an
// option on (`--lr 0.1 --data "$DATA"`), are one word, with `_` for all else. Most of what launch scripts hold is such arguments, and the parser takes as
// long for each word as for a statement. All bytes stay where they are.
std::string WithJoinedArguments(std::string_view text);

class ShellTree {
 public:
  explicit ShellTree(std::string_view text);
  ~ShellTree();
  ShellTree(const ShellTree&) = delete;
  ShellTree& operator=(const ShellTree&) = delete;

  // False: the parser gave up, since the text makes it work without end.
  bool IsParsed() const { return tree_ != nullptr; }
  TSNode root() const { return ts_tree_root_node(tree_); }

 private:
  TSTree* tree_ = nullptr;
};

std::vector<TSNode> ChildrenOf(TSNode node);
// A number for the type of a node, below `SymbolCount`; and the type by that.
size_t SymbolOf(TSNode node);
size_t SymbolCount();
std::string_view TypeOfSymbol(size_t symbol);
std::string_view TypeOf(TSNode node);
// Where a node begins. In a quoted text the grammar takes blanks between two expansions (`"$A $B"`) into the second one.
uint32_t BeginOf(TSNode node, std::string_view text);

}  // namespace allranks::launch_files
