// From what a run or an editor is asked to check to the settings that hold for it.
#pragma once

#include <string>
#include <vector>

#include "analyzer/base/result.h"
#include "analyzer/source/file_system.h"
#include "driver/config/settings.h"

namespace allranks::config {

struct Request {
  std::vector<std::string> paths;   // what to check; root and configuration are found from there
  std::string working_directory;    // absolute
  std::vector<std::string> config;  // files, or settings such as `fail-on = "error"`, instead of what would be found
  bool isolated = false;            // no file is looked for
  Settings above;                   // command line or editor: on top of all files
};

struct Resolved {
  std::string root;                         // of the project, absolute
  Settings settings;
  std::vector<const rules::Rule*> rules;    // to run
  std::vector<const rules::Rule*> without_previews;  // of those: what is in preview of their findings is not shown
  bool brings_baseline = false;             // the project's own file names the baseline, and not the user
  bool is_searched = false;                 // the configuration was looked for: folders further down may have their own
};

// Errors name the place and how to fix it.
[[nodiscard]] base::Result<Resolved> Resolve(const Request& request, const source::FileSystem& files);

// The same of a folder further down, whose configuration file is `path`. It may leave no rule to run.
[[nodiscard]] base::Result<Resolved> ResolveNested(const Request& request, const std::string& root, const std::string& path,
                                                   const source::FileSystem& files);

// Sets one value, as the command line does, and notes where it comes from.
template <class T>
void Set(Settings& settings, T Settings::*member, std::string_view key, T value, std::string_view origin) {
  settings.*member = std::move(value);
  settings.origins.insert_or_assign(std::string(key), std::string(origin));
}

}  // namespace allranks::config
