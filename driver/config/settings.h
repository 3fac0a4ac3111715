// What a project decides: `.allranks.toml`, `allranks.toml`, or `[tool.allranks]` in `pyproject.toml`, and the command
// line above them. option_table.h says of each setting what it is called and what it means.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/result.h"
#include "analyzer/source/file_system.h"
#include "driver/config/rule_selection.h"

namespace allranks::config {

using Texts = std::vector<std::string>;

// A .gitignore pattern, and the folder it counts from as the file that holds it was named; empty: from the root.
struct Pattern {
  std::string text;
  std::string folder;
  friend bool operator==(const Pattern&, const Pattern&) = default;
};
using Patterns = std::vector<Pattern>;

struct PerFileIgnore {
  Pattern pattern;
  Texts rules;
  friend bool operator==(const PerFileIgnore&, const PerFileIgnore&) = default;
};
using PerFileIgnores = std::vector<PerFileIgnore>;

struct SeverityChoice {
  std::string rules;  // a selector
  std::string level;  // error, warning, info, off
  friend bool operator==(const SeverityChoice&, const SeverityChoice&) = default;
};
using SeverityChoices = std::vector<SeverityChoice>;

struct Settings {
  std::string extend;
  Texts select;
  Texts extend_select;
  Texts ignore;
  bool preview = false;
  PerFileIgnores per_file_ignores;
  SeverityChoices severity;
  std::string min_confidence = "likely";
  std::string fail_on = "info";
  bool require_reason = false;
  std::string root;
  Texts import_roots;
  Patterns exclude;
  bool force_exclude = false;
  bool respect_gitignore = true;
  Texts knowledge;
  std::string compile_commands;
  Texts extra_args;  // of the compiler
  std::string cache_dir;
  uint32_t world_nodes = 0;
  uint32_t world_devices = 0;
  std::string baseline;
  std::string output_format = "full";

  std::string file;  // where they were read; empty: defaults
  // By key: where the value was given, "allranks.toml:3" or "--select". A key that is not here has its default.
  std::map<std::string, std::string, std::less<>> origins;

  bool Has(std::string_view key) const { return origins.contains(key); }
  friend bool operator==(const Settings&, const Settings&) = default;
};

// Errors name file, line and column and draw a caret; an unknown key or rule says what is near. `shown` is the file's
// name in messages. What the file extends is read as well: its lists are added to, its other values replaced.
[[nodiscard]] base::Result<Settings> ReadSettings(const std::string& path, const std::string& shown,
                                                  const source::FileSystem& files);

// One setting as it may stand behind `--config`: `fail-on = "error"`. Paths and patterns count from the root.
[[nodiscard]] base::Result<Settings> ReadInlineSettings(const std::string& text);

// `over` on top of `under`: lists are joined, other values replaced; a `select` forgets what was chosen below it.
Settings Merge(Settings under, const Settings& over);

// Which rules run, by these settings alone.
RuleChoice RulesOf(const Settings& settings);

// The severity that a rule's findings are given; none: its own. The longest selector wins, then the last.
// "off" is no severity: such rules are left out of `SelectRules`.
std::optional<findings::Severity> SeverityOf(const rules::Rule& rule, const SeverityChoices& choices);
bool IsOff(const rules::Rule& rule, const SeverityChoices& choices);

// The pattern as one that counts from `root`; both folders absolute.
std::string FromRoot(const Pattern& pattern, const std::string& root, const std::string& working_directory);

// Whether a pyproject.toml speaks of us; one that cannot be read or parsed does not.
bool HasAllranksTable(const std::string& path, const source::FileSystem& files);

}  // namespace allranks::config
