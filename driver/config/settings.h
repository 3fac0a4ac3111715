// The configuration file: `.allranks.toml`, `allranks.toml`, or `[tool.allranks]` in `pyproject.toml`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/result.h"
#include "analyzer/source/file_system.h"

namespace allranks::config {

struct Settings {
  std::string file;                                // where they were read; empty: defaults
  std::optional<std::vector<std::string>> select;  // rule selectors
  std::vector<std::string> ignore;
  std::vector<std::string> exclude;                // gitignore patterns, relative to the root
  std::vector<std::string> knowledge;              // *.toml of the user, relative to the file's folder when written
  std::string root;                                // the same; empty: found by itself
};

// Errors name file and line; an unknown key says what is near. `shown` is the file's name in messages.
[[nodiscard]] base::Result<Settings> ReadSettings(const std::string& path, const std::string& shown,
                                                  const source::FileSystem& files);

// Whether a pyproject.toml speaks of us; one that cannot be read or parsed does not.
bool HasAllranksTable(const std::string& path, const source::FileSystem& files);

}  // namespace allranks::config
