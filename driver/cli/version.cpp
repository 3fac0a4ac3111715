// `allranks version`: what this binary is made of and can do, as a report of a bug should name it. For what was left out of
// the build it names the command that adds it.
#include <unistd.h>

#include "analyzer/platform/platform.h"
#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/licences.h"
#include "driver/cli/terminal.h"

namespace allranks::cli {

namespace {

std::string Part(std::string_view library, std::string_view version, std::string_view packages) {
  if (!version.empty()) return std::string(library) + " " + std::string(version);
  return "NOT IN THIS BINARY. To add it: apt-get install " + std::string(packages) + ", then build again";
}

// The worker links Debian's Gloo, so that packages for other systems leave it out.
std::string GlooPart() {
  std::string text = Part("Gloo", ALLRANKS_GLOO, "libgloo-dev");
  const std::string program = platform::ProgramPath();
  const std::string worker = program.substr(0, program.rfind('/') + 1) + "allranks-worker-gloo";
  const bool is_missing = !std::string_view(ALLRANKS_GLOO).empty() && access(worker.c_str(), X_OK) != 0;
  return is_missing ? "NOT IN THIS PACKAGE (allranks-worker-gloo is not beside allranks). To add it: apt-get install libgloo-dev, then build from source" : text;
}

int PrintLicences() {
  for (const EmbeddedFile& file : EmbeddedLicences()) {
    if (!WriteOut(file.text)) return kExitError;
  }
  return kExitClean;
}

}  // namespace

std::string_view Version() { return ALLRANKS_VERSION; }

int RunVersion(const VersionArguments& arguments) {
  if (arguments.licenses) return PrintLicences();
  const std::string_view commit = ALLRANKS_COMMIT;
  std::string text = "allranks " + std::string(Version());
  if (!commit.empty()) text += " (" + std::string(commit) + ")";
  text += "\nPython: " ALLRANKS_GRAMMARS;
  text += "\nC, C++, CUDA: " + Part("LLVM", ALLRANKS_LLVM, "clang-19 libclang-19-dev llvm-19-dev");
  text += "\nverify --backend sim: always";
  text += "\nverify --backend gloo: " + GlooPart();
  text += "\nverify --backend nccl: with the NCCL and CUDA driver found at run time";
  return WriteOut(text + "\n") ? kExitClean : kExitError;
}

}  // namespace allranks::cli
