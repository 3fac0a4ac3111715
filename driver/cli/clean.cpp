// `allranks clean`: deletes the cache of a project. What runs have not put there is left alone.
#include <filesystem>

#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/settings_of.h"
#include "driver/cli/terminal.h"
#include "driver/pipeline/cache_folder.h"
#include "driver/reports/place.h"

namespace allranks::cli {

int RunClean(const CleanArguments& arguments) {
  const source::RealFileSystem files;
  const CheckArguments check{.paths = arguments.paths};
  const base::Result<config::Resolved> resolved = ResolvedOf(check, files);
  if (!resolved) {
    PrintError(resolved.error().message);
    return kExitError;
  }
  const std::string folder = OptionsOf(check, *resolved).cache_folder;
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return kExitClean;
  const base::Result<pipeline::Left> left = pipeline::DeleteCache(folder);
  if (!left) {
    PrintError(left.error().message);
    return kExitError;
  }
  const std::string name = reports::OneLine(folder);
  WriteErr(*left == pipeline::Left::Nothing ? "Deleted " + name + ".\n" : "Deleted what runs kept in " + name + "; other files in it were left.\n");
  return kExitClean;
}

}  // namespace allranks::cli
