// A fix for calls under a test of the rank: move them out, so that every rank makes them.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

// Adds the fix where one line of the branch holds the call and is its first or last: before or behind the branch it does
// the same for those that came there, and the others come as well.
void AddHoist(const Context& context, const traces::Difference& difference, findings::Finding& finding);

}  // namespace allranks::rules
