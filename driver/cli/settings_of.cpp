#include "driver/cli/settings_of.h"

#include "driver/cli/terminal.h"
#include "driver/pipeline/nested.h"

namespace allranks::cli {
namespace {

using config::Set;
using config::Settings;

std::vector<std::string> PathsOf(const CheckArguments& arguments) {
  if (!arguments.paths.empty()) return arguments.paths;
  return {"."};
}

// The paths by which root and configuration are found; the standard input counts as the file it is named after.
std::vector<std::string> PlacesOf(const CheckArguments& arguments) {
  std::vector<std::string> places = PathsOf(arguments);
  for (std::string& place : places) {
    if (place == "-") place = arguments.stdin_filename.empty() ? "." : arguments.stdin_filename;
  }
  return places;
}

// RULE=LEVEL and PATTERN:RULE, as arguments.cpp has checked them.
config::SeverityChoices SeveritiesOf(const CheckArguments& a) {
  config::SeverityChoices choices;
  for (const std::string& text : a.severity) choices.push_back({text.substr(0, text.find('=')), text.substr(text.find('=') + 1)});
  return choices;
}
config::PerFileIgnores PerFileIgnoresOf(const CheckArguments& a) {
  config::PerFileIgnores ignores;
  for (const std::string& text : a.per_file_ignores) {
    const size_t colon = text.rfind(':');
    ignores.push_back({{text.substr(0, colon), ""}, {text.substr(colon + 1)}});
  }
  return ignores;
}

// What the command line says, as settings.
Settings SettingsAbove(const CheckArguments& a) {
  Settings s;
  if (a.select) Set(s, &Settings::select, "select", *a.select, "--select");
  const auto text = [&](std::string Settings::*member, std::string_view key, const std::string& value, std::string_view flag) {
    if (!value.empty()) Set(s, member, key, value, flag);
  };
  const auto texts = [&](config::Texts Settings::*member, std::string_view key, const config::Texts& value, std::string_view flag) {
    if (!value.empty()) Set(s, member, key, value, flag);
  };
  texts(&Settings::extend_select, "extend-select", a.extend_select, "--extend-select");
  texts(&Settings::ignore, "ignore", a.ignore, "--ignore");
  texts(&Settings::extra_args, "extra-args", a.extra_args, "--extra-arg");
  if (!a.severity.empty()) Set(s, &Settings::severity, "severity", SeveritiesOf(a), "--severity");
  if (!a.per_file_ignores.empty()) Set(s, &Settings::per_file_ignores, "per-file-ignores", PerFileIgnoresOf(a), "--per-file-ignores");
  if (a.preview) Set(s, &Settings::preview, "preview", true, "--preview");
  texts(&Settings::knowledge, "knowledge", a.knowledge, "--knowledge");
  text(&Settings::min_confidence, "min-confidence", a.min_confidence, "--min-confidence");
  text(&Settings::fail_on, "fail-on", a.fail_on, "--fail-on");
  text(&Settings::root, "root", a.root, "--root");
  text(&Settings::compile_commands, "compile-commands", a.compile_commands, "--compile-commands");
  text(&Settings::cache_dir, "cache-dir", a.cache_dir, "--cache-dir");
  text(&Settings::baseline, "baseline", a.baseline, "--baseline");
  text(&Settings::output_format, "output-format", a.output_format, "--output-format");
  config::Patterns exclude;
  for (const std::string& pattern : a.exclude) exclude.push_back({pattern, ""});
  if (!exclude.empty()) Set(s, &Settings::exclude, "exclude", exclude, "--exclude");
  if (a.force_exclude) Set(s, &Settings::force_exclude, "force-exclude", true, "--force-exclude");
  if (a.no_respect_gitignore) Set(s, &Settings::respect_gitignore, "respect-gitignore", false, "--no-respect-gitignore");
  return s;
}

config::Request RequestOf(const CheckArguments& arguments) {
  return {.paths = PlacesOf(arguments), .working_directory = WorkingDirectory(), .config = arguments.config,
          .isolated = arguments.isolated, .above = SettingsAbove(arguments)};
}

}  // namespace

base::Result<config::Resolved> ResolvedOf(const CheckArguments& arguments, const source::FileSystem& files) {
  return config::Resolve(RequestOf(arguments), files);
}

pipeline::Options OptionsOf(const CheckArguments& arguments, const config::Resolved& resolved) {
  pipeline::Options options = pipeline::OptionsOf(resolved, WorkingDirectory());
  options.paths = PathsOf(arguments);
  options.jobs = arguments.jobs;
  options.bounds = {.per_file = std::chrono::milliseconds(static_cast<int64_t>(arguments.timeout_per_file * 1000)),
                    .memory_bytes = uint64_t{arguments.max_memory} << 20,
                    .memory_per_file = uint64_t{arguments.max_memory_per_file} << 20};
  options.named_knowledge = arguments.knowledge;
  if (arguments.no_cache) options.cache_folder.clear();
  options.reads_launch_files = !arguments.no_launch_files;
  return options;
}

base::Result<bool> AddNested(const CheckArguments& arguments, const config::Resolved& resolved, const source::FileSystem& files,
                             pipeline::Options& options) {
  return pipeline::AddNested(RequestOf(arguments), resolved, files, options);
}

}  // namespace allranks::cli
