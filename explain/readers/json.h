// JSON as the same tree of values as pickles.
#pragma once

#include "explain/readers/document.h"

namespace allranks::explain {

[[nodiscard]] ReadDocument ReadJson(std::string_view text);

}  // namespace allranks::explain
