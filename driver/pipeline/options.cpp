#include "driver/pipeline/options.h"

#include "driver/config/cache_dir.h"

namespace allranks::pipeline {
namespace {

findings::Confidence LeastConfidence(const std::string& name) {
  if (name == "possible") return findings::Confidence::Possible;
  return name == "certain" ? findings::Confidence::Certain : findings::Confidence::Likely;
}

}  // namespace

const Policy& Policies::Of(std::string_view path) const {
  const Policy* nearest = &of_run;
  for (const Policy& policy : nested) {
    if (policy.folder.size() > nearest->folder.size() && IsInside(path, policy.folder)) nearest = &policy;
  }
  return *nearest;
}

Policy PolicyOf(const config::Resolved& resolved, const std::string& working_directory) {
  const config::Settings& settings = resolved.settings;
  Policy policy{.folder = {}, .file = settings.file, .rules = resolved.rules, .without_previews = resolved.without_previews, .file_ignores = {}, .severity = settings.severity,
                .least = LeastConfidence(settings.min_confidence), .fail_on = settings.fail_on, .require_reason = settings.require_reason};
  for (const config::PerFileIgnore& ignore : settings.per_file_ignores) {
    policy.file_ignores.push_back({config::FromRoot(ignore.pattern, resolved.root, working_directory), ignore.rules});
  }
  return policy;
}

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
  options.cache_folder = settings.cache_dir.empty() ? resolved.root + "/" + std::string(config::kCacheFolder) : settings.cache_dir;
  options.compile_commands = settings.compile_commands;
  options.extra_args = settings.extra_args;
  options.policies.of_run = PolicyOf(resolved, working_directory);
  options.job = {.nodes = settings.world_nodes, .devices = settings.world_devices};
  options.respect_gitignore = settings.respect_gitignore;
  options.force_exclude = settings.force_exclude;
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
