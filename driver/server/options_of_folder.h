#pragma once

#include <optional>

#include "analyzer/base/result.h"
#include "driver/baseline/baseline.h"
#include "driver/pipeline/options.h"
#include "driver/server/client.h"

namespace allranks::server {

struct FolderOptions {
  pipeline::Options options;
  findings::Confidence least = findings::Confidence::Likely;  // of findings that are shown
  std::optional<baseline::Baseline> baseline;                  // findings that are not
};

// What `allranks check` in this folder would do, with the editor's settings on top.
[[nodiscard]] base::Result<FolderOptions> OptionsOfFolder(const std::string& folder, const Settings& settings,
                                                          const source::FileSystem& files);

}  // namespace allranks::server
