// Orders that each rank draws for itself, although the data are dealt out to the ranks by position.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

// Findings of AR308.
void CheckOwnOrders(const Context& context, std::string_view code, FindingSink& sink);

}  // namespace allranks::rules
