// Groups of all ranks of the job: the default group, those that a program makes of all ranks beside it, and what a setting chooses among these.
//
// The default group is a Group of kind World without a site; another is one with the site that makes it. Two of them have the same members, so that the same ranks take part in their operations, and are two groups all the same: what is issued on
// one of them is not matched with what is issued on another.
#pragma once

#include "analyzer/variation/value.h"

namespace allranks::variation {

// `group`: none or None is the default group.
bool IsOfAllRanks(const ValueStore& store, ValueId group);

}  // namespace allranks::variation
