// `allranks --version`: what a report of a bug should name.
#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/terminal.h"

namespace allranks::cli {

std::string_view Version() { return ALLRANKS_VERSION; }

int RunVersion() {
  const std::string_view commit = ALLRANKS_COMMIT, llvm = ALLRANKS_LLVM;
  std::string text = "allranks " + std::string(Version());
  if (!commit.empty()) text += " (" + std::string(commit) + ")";
  text += "\nPython: " ALLRANKS_GRAMMARS "\nC, C++, CUDA: ";
  text += llvm.empty() ? "built without LLVM" : "LLVM " + std::string(llvm);
  return WriteOut(text + "\n") ? kExitClean : kExitError;
}

}  // namespace allranks::cli
