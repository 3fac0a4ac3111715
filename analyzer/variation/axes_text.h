// Axes in the words of a message.
#pragma once

#include <string>

#include "analyzer/knowledge/knowledge.h"

namespace allranks::variation {

// "differs between ranks", "depends on each rank's own data": what follows the name of a value.
std::string VariesText(knowledge::Axes axes);

}  // namespace allranks::variation
