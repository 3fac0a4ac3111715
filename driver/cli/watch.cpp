// `allranks check --watch`: one run after the other, each when a file of the project or its configuration has changed.
#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/interrupt.h"
#include "driver/cli/settings_of.h"
#include "driver/cli/terminal.h"

namespace allranks::cli {
namespace {

namespace fs = std::filesystem;

// Short enough to feel immediate; looking at ten thousand files takes a tenth of it.
constexpr std::chrono::milliseconds kBetweenLooks{500};
constexpr std::string_view kClearScreen = "\x1b[2J\x1b[H";

using Stamps = std::map<std::string, std::pair<fs::file_time_type, uintmax_t>>;

void Look(const std::string& path, Stamps& stamps) {
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(path, error);
  const uintmax_t size = error ? 0 : fs::file_size(path, error);
  if (!error) stamps[path] = {time, size};
}

// When each file was written that a run depends on. An error in the configuration leaves that file alone to look at.
Stamps LookAtAll(const CheckArguments& arguments) {
  const source::RealFileSystem files;
  Stamps stamps;
  const base::Result<config::Resolved> resolved = ResolvedOf(arguments, files);
  for (const char* name : {".allranks.toml", "allranks.toml", "pyproject.toml"}) Look(name, stamps);
  if (!resolved) return stamps;
  Look(resolved->settings.file, stamps);
  pipeline::Options options = OptionsOf(arguments, *resolved);
  const base::Result<bool> nested = AddNested(arguments, *resolved, files, options);
  for (const pipeline::Policy& policy : options.policies.nested) Look(policy.file, stamps);
  if (!nested) return stamps;
  for (const std::string& path : options.knowledge_files) Look(path, stamps);
  const pipeline::PathMap paths(options.root, options.working_directory);
  const pipeline::ProjectFiles project = pipeline::Enumerate(pipeline::FilesOf(options), paths, files);
  for (const std::string& path : project.all) Look(paths.Shown(path), stamps);
  for (const std::string& path : project.launch.all) Look(paths.Shown(path), stamps);
  return stamps;
}

}  // namespace

int RunWatch(const CheckArguments& arguments) {
  for (const std::string& path : arguments.paths) {
    if (path != "-") continue;
    PrintError("--watch: standard input does not change; name files or folders");
    return kExitError;
  }
  for (;;) {
    // Before the run: what changes meanwhile is seen afterwards.
    const Stamps before = LookAtAll(arguments);
    if (IsTerminal(1) && !WriteOut(kClearScreen)) return kExitError;
    RunCheck(arguments);
    if (!IsInterrupted()) WriteErr("Watching for changes; Ctrl-C ends it.\n");
    do {
      if (IsInterrupted()) return InterruptedExitCode();
      std::this_thread::sleep_for(kBetweenLooks);
    } while (LookAtAll(arguments) == before);
  }
}

}  // namespace allranks::cli
