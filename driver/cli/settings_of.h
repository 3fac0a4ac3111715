#pragma once

#include "analyzer/base/result.h"
#include "analyzer/source/file_system.h"
#include "driver/cli/arguments.h"
#include "driver/pipeline/pipeline.h"

namespace allranks::cli {

// Arguments, the configuration file and defaults, in this order, as options of one run.
[[nodiscard]] base::Result<pipeline::Options> OptionsOf(const CheckArguments& arguments,
                                                        const source::FileSystem& files);

}  // namespace allranks::cli
