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

// The last repository that a part of a page has its reader fetch; empty: none.
std::string ClonedIn(std::string_view text);

}  // namespace allranks::launch_files
