#include "driver/cli/settings_of.h"

#include "driver/cli/terminal.h"
#include "driver/config/project.h"
#include "driver/config/rule_selection.h"
#include "driver/config/settings.h"
#include "driver/pipeline/paths.h"

namespace allranks::cli {
namespace {

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

base::Result<config::Settings> SettingsOf(const CheckArguments& arguments, const std::string& root,
                                          const source::FileSystem& files) {
  if (arguments.isolated) return config::Settings{};
  const std::string here = WorkingDirectory();
  const std::string path =
      arguments.config.empty() ? config::FindConfig(PlacesOf(arguments), root, here, files) : arguments.config;
  if (path.empty()) return config::Settings{};
  const pipeline::PathMap shown(root, here);
  return config::ReadSettings(path, shown.Shown(shown.Relative(path)), files);
}

base::Result<std::string> RootOf(const CheckArguments& arguments, const source::FileSystem& files) {
  if (arguments.root.empty()) return config::FindRoot(PlacesOf(arguments), WorkingDirectory(), files);
  const base::Result<source::EntryKind> kind = files.Kind(arguments.root);
  if (!kind) return base::Fail(kind.error().message + "; name a folder that exists after --root");
  if (*kind != source::EntryKind::Directory) return base::Fail(arguments.root + ": not a folder; --root takes one");
  return arguments.root;
}

}  // namespace

base::Result<pipeline::Options> OptionsOf(const CheckArguments& arguments, const source::FileSystem& files) {
  const base::Result<std::string> root = RootOf(arguments, files);
  if (!root) return base::Fail(root.error().message);
  const base::Result<config::Settings> settings = SettingsOf(arguments, *root, files);
  if (!settings) return base::Fail(settings.error().message);
  const std::vector<config::RuleChoice> choices = {
      {.select = settings->select, .ignore = settings->ignore, .origin = settings->file},
      {.select = arguments.select, .ignore = arguments.ignore, .origin = "--select or --ignore"}};
  base::Result<std::vector<const rules::Rule*>> rules = config::SelectRules(choices);
  if (!rules) return base::Fail(rules.error().message);
  if (rules->empty()) return base::Fail("no rules left to run; select at least one, see `allranks rule --all`");

  pipeline::Options options;
  options.root = arguments.root.empty() && !settings->root.empty() ? settings->root : *root;
  options.working_directory = WorkingDirectory();
  options.paths = PathsOf(arguments);
  options.compile_commands = arguments.compile_commands;
  options.knowledge_files = settings->knowledge;
  options.knowledge_files.insert(options.knowledge_files.end(), arguments.knowledge.begin(), arguments.knowledge.end());
  options.exclude = settings->exclude;
  options.exclude.insert(options.exclude.end(), arguments.exclude.begin(), arguments.exclude.end());
  options.rules = std::move(*rules);
  options.respect_gitignore = !arguments.no_respect_gitignore;
  options.jobs = arguments.jobs;
  return options;
}

}  // namespace allranks::cli
