// Trees of texts that are read several times: scripts that many others source, or start with arguments. A tree is that of its text, so
// it does not matter who asked first. How much text is kept is bounded.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

namespace allranks::launch_files {

class ShellTree;  // syntax_tree.h

class ShellTrees {
 public:
  std::shared_ptr<const ShellTree> Of(const std::string& text);

 private:
  std::unordered_map<std::string, std::shared_ptr<const ShellTree>> by_text_;
  size_t bytes_ = 0;
};

}  // namespace allranks::launch_files
