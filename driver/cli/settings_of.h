#pragma once

#include "analyzer/base/result.h"
#include "analyzer/source/file_system.h"
#include "driver/cli/arguments.h"
#include "driver/config/resolve.h"
#include "driver/pipeline/options.h"

namespace allranks::cli {

// Arguments, configuration files and defaults, in this order.
[[nodiscard]] base::Result<config::Resolved> ResolvedOf(const CheckArguments& arguments, const source::FileSystem& files);

// The same as options of one run.
pipeline::Options OptionsOf(const CheckArguments& arguments, const config::Resolved& resolved);

// Adds what the configuration files of folders further down say, once paths and overlays of the run are known.
[[nodiscard]] base::Result<bool> AddNested(const CheckArguments& arguments, const config::Resolved& resolved,
                                           const source::FileSystem& files, pipeline::Options& options);

}  // namespace allranks::cli
