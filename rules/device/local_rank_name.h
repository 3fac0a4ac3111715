// How code at a place can say "the index of my process on this node".
#pragma once

#include <string>

#include "rules/rule.h"

namespace allranks::rules {

struct LocalRankText {
  std::string text;             // "local_rank", `int(os.environ["SLURM_LOCALID"])`, `hvd.local_rank()`; empty: nothing is known to hold it
  std::string variable;         // the variable of the environment that it reads: "SLURM_LOCALID"; empty: none
};

// A variable that holds it at the place; the index that a process of `mp.spawn` gets; what the library that tells the rank has beside it; or
// the variable of the environment that comes from the launcher which tells the rank. In C and C++ a variable of the program alone, as there is
// no expression that is right under every launcher. `rank`: the number that is used in its place.
LocalRankText LocalRankAt(const Context& context, const objects::Site& rank);

}  // namespace allranks::rules
