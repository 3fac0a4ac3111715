#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/base/result.h"

namespace allranks::baseline {

// What one call of git may take. A repository may hold pipes, devices and objects of any size where git expects files: it waits for
// the ones without end, and holds the others in memory.
struct GitBounds {
  std::chrono::milliseconds time = std::chrono::seconds(30);  // by the clock: what git waits for takes no time of a processor
  uint64_t output_bytes = uint64_t{1} << 20;
  uint64_t memory_bytes = uint64_t{2} << 30;
  std::function<bool()> is_stopped = {};                      // whether the run is to end; none: it is not
};

// What `git ARGS...` prints when run in `folder`, with `input` on its standard input. Variables such as GIT_DIR and
// GIT_INDEX_FILE, which git sets for hooks, are not handed on: they would speak of another place. An error holds git's own
// words, or the bound that it was ended for.
[[nodiscard]] base::Result<std::string> RunGit(const std::string& folder, const std::vector<std::string>& args, const GitBounds& bounds,
                                               const std::string& input = {});

}  // namespace allranks::baseline
