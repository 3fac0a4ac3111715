// `allranks clean`: deletes the cache of a project. What does not carry the mark of a cache is left alone.
#include <filesystem>

#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/settings_of.h"
#include "driver/cli/terminal.h"
#include "driver/reports/place.h"

namespace allranks::cli {

int RunClean(const CleanArguments& arguments) {
  namespace fs = std::filesystem;
  const source::RealFileSystem files;
  const CheckArguments check{.paths = arguments.paths};
  const base::Result<config::Resolved> resolved = ResolvedOf(check, files);
  if (!resolved) {
    PrintError(resolved.error().message);
    return kExitError;
  }
  const fs::path folder = OptionsOf(check, *resolved).cache_folder;
  std::error_code error;
  if (!fs::exists(folder, error)) return kExitClean;
  if (!fs::exists(folder / "CACHEDIR.TAG", error)) {
    PrintError(folder.string() + ": not deleted: this is no cache of allranks; it has no CACHEDIR.TAG");
    return kExitError;
  }
  fs::remove_all(folder, error);
  if (error) {
    PrintError("cannot delete " + folder.string() + ": " + error.message());
    return kExitError;
  }
  WriteErr("Deleted " + reports::OneLine(folder.string()) + ".\n");
  return kExitClean;
}

}  // namespace allranks::cli
