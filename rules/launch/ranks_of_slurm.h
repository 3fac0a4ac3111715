// Programs that take the number of each rank from Slurm, and the number of all ranks from somewhere else.
#pragma once

#include <string_view>

#include "rules/rule.h"

namespace allranks::rules {

// `args.rank = int(os.environ["SLURM_PROCID"])` in an arm that leaves `args.world_size` as it is, which the other arms set and the process group is
// made with.
void FindRanksOfSlurm(const Context& context, std::string_view code, FindingSink& sink);

}  // namespace allranks::rules
