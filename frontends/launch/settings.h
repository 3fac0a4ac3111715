// Files of settings that a program reads: one file, or what Hydra puts together of several by their lists of defaults.
//
// Of a list of defaults these entries are followed: names beside the file, `group: option`, `/group`, `@package`, `optional`,
// `_self_`, and lists of options. A group that some file overrides is unknown, and so is one whose name is computed or whose
// file is not there. How many files are read, and how deep, is bounded; what lies beyond is unknown.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/launch/settings_file.h"
#include "frontends/launch/yaml.h"

namespace allranks::launch_files {

// A larger one holds data.
constexpr size_t kLargestSettings = size_t{512} << 10;

struct SettingsText {
  launch::ConfigTree tree;
  std::optional<launch::SettingKeys> package;  // `# @package trainer`: below which the file wants to stand
};

// By the ending of its name; nothing: it is no file of settings.
std::optional<launch::FileKind> KindOfSettings(std::string_view path);
std::optional<launch::SettingKeys> PackageIn(std::string_view text);

// The file of a path; nothing: it is not there, or cannot be read.
using OpenSettings = std::function<std::optional<SettingsText>(const std::string& path)>;

launch::SettingsFile ReadSettings(const std::string& path, const OpenSettings& open);
// `folder`: of all configurations. `name`: of the first, without its ending.
launch::SettingsFile ComposeSettings(const std::string& folder, const std::string& name, const OpenSettings& open);

}  // namespace allranks::launch_files
