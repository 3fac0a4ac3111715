// What a knowledge file says about names that earlier files already describe.
#pragma once

#include <string>
#include <vector>

#include "analyzer/knowledge/knowledge.h"

namespace allranks::knowledge {

// Call before each `Load`, and after the last: what was said since the call before of names that were there then.
class Replaced {
 public:
  [[nodiscard]] std::vector<std::string> Since(const Knowledge& knowledge);

 private:
  size_t entries_ = 0;
  size_t classes_ = 0;
};

}  // namespace allranks::knowledge
