// `allranks check --add-ignore=REASON`: a comment at every finding that is left, by which it is accepted.
#pragma once

#include <string>

#include "driver/cli/fix.h"

namespace allranks::cli {

// Puts the comments in and checks that they work: what is still found afterwards is in `out`, and named in `errors`.
[[nodiscard]] base::Result<Fixed> AddIgnores(const std::string& reason, pipeline::Options options,
                                             const source::FileSystem& files, pipeline::Output& out,
                                             const std::function<void(pipeline::Output&)>& keep);

}  // namespace allranks::cli
