// Configuration files further down: what they say of their folders' findings, and what they bring to the whole run.
#pragma once

#include "analyzer/base/result.h"
#include "analyzer/source/file_system.h"
#include "driver/config/resolve.h"
#include "driver/pipeline/options.h"

namespace allranks::pipeline {

// `options` are those of `resolved`, with the paths and overlays of the run. Adds a policy for each folder that has a
// configuration of its own, and its knowledge, import roots and exclusions.
[[nodiscard]] base::Result<bool> AddNested(const config::Request& request, const config::Resolved& resolved,
                                           const source::FileSystem& files, Options& options);

}  // namespace allranks::pipeline
