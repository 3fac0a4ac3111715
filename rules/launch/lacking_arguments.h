#pragma once

#include "rules/launch/launch_rules.h"

namespace allranks::rules {

// AR908 of arguments that a script needs and a command does not give, or gives without a name. `of_file`: the findings of one file, which are joined
// where they are alike.
void CheckLackingArguments(const LaunchContext& context, const launch::LaunchFile& file, const launch::Job& job, FindingSink& of_file);

}  // namespace allranks::rules
