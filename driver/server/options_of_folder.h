#pragma once

#include <map>
#include <optional>
#include <string>

#include "analyzer/base/result.h"
#include "driver/baseline/baseline.h"
#include "driver/pipeline/options.h"
#include "driver/server/client.h"

namespace allranks::server {

struct FolderOptions {
  pipeline::Options options;
  std::optional<baseline::Baseline> baseline;                  // findings that are not
};

// What to check in a folder.
struct Checked {
  std::string folder;
  bool is_whole = true;                          // false: only the open files
  std::map<std::string, std::string> open = {};  // texts by path
};

// What `allranks check` in this folder would do, with the editor's settings on top.
[[nodiscard]] base::Result<FolderOptions> OptionsOfFolder(const Checked& checked, const Settings& settings,
                                                          const source::FileSystem& files);

}  // namespace allranks::server
