// What one run is to do, as plain values.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "driver/config/resolve.h"
#include "driver/pipeline/enumerate.h"
#include "rules/rule.h"

namespace allranks::pipeline {

// Told as the work goes on, from any thread; `total` is 0 where it is not known.
using Progress = std::function<void(std::string_view phase, size_t done, size_t total)>;

// Findings of these rules are left out in files that the pattern matches.
struct FileIgnore {
  std::string pattern;                     // gitignore-style, relative to the root
  std::vector<std::string> rules;          // selectors
};

struct Options {
  std::string root = ".";                 // of the project: imports are looked up below it
  std::string working_directory;          // absolute; shown paths are relative to it. Empty: there is none
  std::vector<std::string> paths = {"."}; // files and directories whose findings are wanted
  std::map<std::string, std::string> overlays;  // path -> text that stands in for the file (stdin, open editors)
  std::vector<std::string> knowledge_files;     // the user's own *.toml
  std::vector<std::string> exclude;             // gitignore-style patterns
  std::vector<std::string> import_roots;        // folders from which imports start, besides those found
  std::string compile_commands;                 // folder of compile_commands.json; empty: looked for
  std::vector<std::string> extra_args;          // of the compiler, for C and C++
  std::string cache_folder;                     // where what was read is kept; empty: nowhere
  std::vector<const rules::Rule*> rules;        // to run; empty: all there are
  std::vector<FileIgnore> file_ignores;
  config::SeverityChoices severity;             // where a rule's own is not wanted
  variation::JobShape job;                      // what is known of the user's jobs
  bool respect_gitignore = true;
  bool force_exclude = false;             // `exclude` holds for files among `paths` as well
  bool require_reason = false;            // ignore comments without one are findings
  unsigned jobs = 0;                      // 0: one a core
  Progress progress;
};

// What the settings decide; the caller adds paths, overlays, jobs and progress.
Options OptionsOf(const config::Resolved& resolved, const std::string& working_directory);

// What of them decides which files there are.
EnumerateOptions FilesOf(const Options& options);

}  // namespace allranks::pipeline
