#pragma once

#include "rules/rule.h"

namespace allranks::rules {

// Models that a program spreads over all devices of its node and trains, while a launcher starts several ranks of it (AR904).
void CheckSpreadModels(const Context& context, FindingSink& sink);

}  // namespace allranks::rules
