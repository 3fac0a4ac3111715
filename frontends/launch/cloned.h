// Repositories that a script or a page fetches: what is started in their folders is no file of this project.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "frontends/launch/shell.h"

namespace allranks::launch_files {

// Follows the commands of a script: `git clone URL [FOLDER]`, and `cd` into it.
class ClonedFolders {
 public:
  void Follow(const ShellCommand& command);
  // The repository in whose folder the next command is run; empty: none that was fetched.
  std::string_view Here() const { return here_; }

 private:
  void Enter(const Word& folder);

  std::set<std::string, std::less<>> names_;
  std::string path_;  // of the folder, from where the script began, as far as it is known
  std::string here_;
};

// What a page has its reader fetch. Asked of one place after the other it reads a page once.
class PageClones {
 public:
  // The last repository that is fetched between two places of `text`; empty: none.
  std::string Before(std::string_view text, size_t begin, size_t end);

 private:
  size_t begin_ = 0;
  size_t read_to_ = 0;
  size_t last_ = std::string_view::npos;  // where the last command is that fetches one
};

}  // namespace allranks::launch_files
