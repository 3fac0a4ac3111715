// Files that may start jobs or configure them: which there are, and which of them mention anything of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/watch.h"
#include "driver/pipeline/enumerate.h"
#include "driver/pipeline/start_names.h"

namespace allranks::pipeline {

// Whether a file's name says that it may start a job or configure one.
bool IsLaunchName(std::string_view name);
// The same, or that a program may read settings from it.
bool MayHoldSettings(std::string_view path);

// A file that mentions a launcher or a key of a configuration, or only starts scripts.
struct LaunchText {
  uint32_t index = 0;
  bool is_launch = true;   // false: it tells how scripts are started, and is nothing to check
  bool is_too_large = false;  // a configuration of which nothing is read
  bool is_of_others = false;  // it may start only files that are not analysed
  std::string text;
};

struct LaunchScan {
  LaunchFiles files;
  std::vector<LaunchText> texts;   // in the order of their paths
  std::optional<StartNames> names;  // by which they start files of the project; nothing: none was read
};

struct LaunchInput {
  const std::vector<std::string>& code;   // files of the project that hold code, relative to the root
  const PathMap& paths;
  const source::FileSystem& files;
  const std::map<std::string, std::string>& overlays;  // by path relative to the root
  unsigned jobs = 0;
  const base::Watch& watch;

  // The text of a file relative to the root: that of an editor, or what is on disk.
  base::Result<std::string> Read(const std::string& path) const;
  base::Result<uint64_t> Size(const std::string& path) const;
};

// `analysed`: the files that are analysed, relative to the root. How others are started is nothing that anybody asks.
LaunchScan ScanLaunchFiles(const LaunchInput& input, LaunchFiles files, const std::vector<std::string>& analysed);

}  // namespace allranks::pipeline
