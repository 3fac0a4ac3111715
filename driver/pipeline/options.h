// What one run is to do, as plain values.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/watch.h"
#include "driver/config/resolve.h"
#include "analyzer/findings/finding.h"
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

// What counts of the findings of some files, and for how much.
struct Policy {
  std::string folder;                           // the files below it, relative to the root; empty: all
  std::string file;                             // where it was read; empty: nowhere
  std::vector<const rules::Rule*> rules{rules::AllRules().begin(), rules::AllRules().end()};  // to run
  std::vector<const rules::Rule*> without_previews;  // of those: what is in preview of their findings is not shown
  std::vector<FileIgnore> file_ignores;
  config::SeverityChoices severity;             // where a rule's own is not wanted
  findings::Confidence least = findings::Confidence::Likely;  // of findings that are shown
  std::string fail_on = "info";                 // the least severity that makes a run fail, or "never"
  bool require_reason = false;                  // ignore comments without one are findings
};

struct Policies {
  Policy of_run;
  std::vector<Policy> nested;  // of folders with a configuration of their own

  // That of the nearest folder around the file, whose path is relative to the root.
  const Policy& Of(std::string_view path) const;
};

struct Options {
  std::string root = ".";                 // of the project: imports are looked up below it
  std::string working_directory;          // absolute; shown paths are relative to it. Empty: there is none
  std::vector<std::string> paths = {"."}; // files and directories whose findings are wanted
  std::map<std::string, std::string> overlays;  // path -> text that stands in for the file (stdin, open editors)
  // Those of `knowledge_files` that a person named: what is wrong in them is shown wherever they lie.
  std::vector<std::string> named_knowledge;
  std::vector<std::string> knowledge_files;     // the user's own *.toml
  std::vector<std::string> exclude;             // gitignore-style patterns
  std::vector<std::string> import_roots;        // folders from which imports start, besides those found
  std::string compile_commands;                 // folder of compile_commands.json; empty: looked for
  std::vector<std::string> extra_args;          // of the compiler, for C and C++
  std::string cache_folder;                     // where what was read is kept; empty: nowhere
  Policies policies;
  std::vector<std::string> not_used;            // settings of folders that only a whole run can have, and which it has not
  variation::JobShape job;                      // what is known of the user's jobs
  bool respect_gitignore = true;
  bool reads_launch_files = true;         // false, to see what they change: code is analysed as if there were none
  bool force_exclude = false;             // `exclude` holds for files among `paths` as well
  unsigned jobs = 0;                      // 0: one a core
  base::Bounds bounds;                    // of time for each file, and of memory
  std::function<bool()> is_stopped;       // whether the run is to end early, with what it has; none: it is not
  Progress progress;
};

// What the settings say of findings.
Policy PolicyOf(const config::Resolved& resolved, const std::string& working_directory);

// What the settings decide; the caller adds paths, overlays, jobs and progress.
Options OptionsOf(const config::Resolved& resolved, const std::string& working_directory);

// What of them decides which files there are.
EnumerateOptions FilesOf(const Options& options);

}  // namespace allranks::pipeline
