#pragma once

#include <string>
#include <vector>

#include "analyzer/base/result.h"

namespace allranks::baseline {

// What `git ARGS...` prints when run in `folder`, with `input` on its standard input. Variables such as GIT_DIR and
// GIT_INDEX_FILE, which git sets for hooks, are not handed on: they would speak of another place. An error holds git's own
// words.
[[nodiscard]] base::Result<std::string> RunGit(const std::string& folder, const std::vector<std::string>& args,
                                               const std::string& input = {});

}  // namespace allranks::baseline
