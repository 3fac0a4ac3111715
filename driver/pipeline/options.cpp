#include "driver/pipeline/options.h"

namespace allranks::pipeline {

Options OptionsOf(const config::Resolved& resolved, const std::string& working_directory) {
  const config::Settings& settings = resolved.settings;
  Options options;
  options.root = resolved.root;
  options.working_directory = working_directory;
  options.knowledge_files = settings.knowledge;
  for (const config::Pattern& pattern : settings.exclude) {
    options.exclude.push_back(config::FromRoot(pattern, resolved.root, working_directory));
  }
  options.import_roots = settings.import_roots;
  options.cache_folder = settings.cache_dir.empty() ? resolved.root + "/.allranks_cache" : settings.cache_dir;
  options.compile_commands = settings.compile_commands;
  options.extra_args = settings.extra_args;
  options.rules = resolved.rules;
  for (const config::PerFileIgnore& ignore : settings.per_file_ignores) {
    options.file_ignores.push_back({config::FromRoot(ignore.pattern, resolved.root, working_directory), ignore.rules});
  }
  options.severity = settings.severity;
  options.job = {.nodes = settings.world_nodes, .devices = settings.world_devices};
  options.respect_gitignore = settings.respect_gitignore;
  options.force_exclude = settings.force_exclude;
  options.require_reason = settings.require_reason;
  return options;
}

EnumerateOptions FilesOf(const Options& options) {
  EnumerateOptions what{.paths = options.paths, .exclude = options.exclude, .import_roots = options.import_roots,
                        .respect_gitignore = options.respect_gitignore, .force_exclude = options.force_exclude,
                        .overlays = {}};
  for (const auto& [path, text] : options.overlays) what.overlays.push_back(path);
  return what;
}

}  // namespace allranks::pipeline
