#include "frontends/launch/shell_trees.h"

#include "frontends/launch/syntax_tree.h"

namespace allranks::launch_files {
namespace {

// Of texts whose trees are kept: single commands are parsed in no time.
constexpr size_t kLeastKept = 256;
constexpr size_t kMostKept = size_t{2} << 20;

}  // namespace

std::shared_ptr<const ShellTree> ShellTrees::Of(const std::string& text) {
  const auto known = by_text_.find(text);
  if (known != by_text_.end()) return known->second;
  auto tree = std::make_shared<const ShellTree>(text);
  if (text.size() < kLeastKept || bytes_ + text.size() > kMostKept) return tree;
  bytes_ += text.size();
  return by_text_.emplace(text, std::move(tree)).first->second;
}

}  // namespace allranks::launch_files
