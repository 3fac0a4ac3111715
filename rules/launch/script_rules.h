// Rules about launch files that ask what the script of a job takes on its command line. To know that, the script and all that it
// imports are read once more, which takes as long as all launch files together.
#pragma once

#include <span>

#include "rules/rule.h"

namespace allranks::rules {

bool AskForScripts(std::span<const Rule* const> wanted);

}  // namespace allranks::rules
