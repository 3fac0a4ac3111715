// The state of a random generator that one rank has saved, and that all ranks put back.
//
//   if rank == 0:                                        # all ranks
//       torch.save({"rng": torch.get_rng_state()}, p)    torch.set_rng_state(torch.load(p)["rng"])
//
// From there on all ranks draw the same numbers, though each had its own before. Nothing is lost where they had the same from the start: so it
// is where the program seeds alike. A state that a rank picks for itself (`states[rank]`, a file of each rank) is its own.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

// Findings of AR308.
void CheckSharedState(const Context& context, std::string_view code, FindingSink& sink);

}  // namespace allranks::rules
