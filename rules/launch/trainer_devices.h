// Lightning's trainer says how many devices and nodes a job has; under a launcher of ranks that launcher says it, too.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

// Of AR907: a trainer whose numbers are those of no command that starts it.
void CheckTrainerDevices(const Context& context, FindingSink& sink);

}  // namespace allranks::rules
