// AR907: what a list or a file of hosts says against the numbers of the command.
#pragma once

#include "rules/launch/job_facts.h"

namespace allranks::rules {

void CheckHosts(const LaunchContext& context, const Job& job, FindingSink& sink);

}  // namespace allranks::rules
