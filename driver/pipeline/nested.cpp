#include "driver/pipeline/nested.h"

#include <algorithm>
#include <array>

#include "driver/config/option_table.h"
#include "driver/config/project.h"

namespace allranks::pipeline {
namespace {

// One value a run, as they decide what is read and where reports go.
constexpr std::array<std::string_view, 10> kOfTheRun = {
    "root", "respect-gitignore", "force-exclude", "compile-commands", "extra-args", "cache-dir",
    "world.nodes", "world.devices", "baseline", "output-format"};

void AddNew(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& text : from) {
    if (std::ranges::find(to, text) == to.end()) to.push_back(text);
  }
}

// "world.nodes, baseline": what the folder asks for and the run does not have.
std::string NotUsed(const config::Settings& nested, const config::Settings& run) {
  std::string keys;
  for (const config::Option& option : config::AllOptions()) {
    if (std::ranges::find(kOfTheRun, option.key) == kOfTheRun.end() || !nested.Has(option.key)) continue;
    if (config::ValueText(option, nested) != config::ValueText(option, run)) keys += (keys.empty() ? "" : ", ") + std::string(option.key);
  }
  return keys;
}

}  // namespace

base::Result<bool> AddNested(const config::Request& request, const config::Resolved& resolved, const source::FileSystem& files,
                             Options& options) {
  if (!resolved.is_searched) return true;
  const PathMap paths(options.root, options.working_directory);
  // What holds here holds for the run.
  const std::string around = paths.Relative(config::FolderAround(request.paths, request.working_directory, files));
  for (const std::string& folder : RequestedFolders(FilesOf(options), paths, files)) {
    if (folder == around || !IsInside(folder, around)) continue;
    const std::string path = config::ConfigIn(paths.Absolute(folder), files);
    if (path.empty()) continue;
    const base::Result<config::Resolved> nested = config::ResolveNested(request, options.root, path, files);
    if (!nested) return base::Fail(nested.error().message);
    const Options of_folder = OptionsOf(*nested, options.working_directory);
    options.policies.nested.push_back(of_folder.policies.of_run);
    options.policies.nested.back().folder = folder;
    AddNew(options.knowledge_files, of_folder.knowledge_files);
    AddNew(options.import_roots, of_folder.import_roots);
    AddNew(options.exclude, of_folder.exclude);
    if (const std::string keys = NotUsed(nested->settings, resolved.settings); !keys.empty()) {
      options.not_used.push_back(keys + " of " + paths.Shown(paths.Relative(path)));
    }
  }
  return true;
}

}  // namespace allranks::pipeline
