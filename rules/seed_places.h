// Where a program says which number a generator begins with: calls that seed, or calls of helpers that hand their argument
// on to one.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace allranks::rules {

struct SeedPlace {
  objects::Site site;
  variation::ValueId seed;
  objects::Site helper;  // the call that seeds in the end; the site itself if no helper stands between
};

// Of the generator that training draws noise from: torch's, or that of all libraries at once.
std::vector<SeedPlace> SeedPlaces(const Context& context);
// Whether the program of a file seeds the generator that a call of a library draws from, by `random.seed`, `np.random.seed`, `set_seed` and the
// like, and with the same number on all ranks wherever it does. `draw`: the name of what is called.
bool IsSeededAlike(const Context& context, ir::ModuleId module, std::string_view draw);
// Whether ranks seed differently by the number of a rank, whichever it is.
bool CountsRanks(const Context& context, variation::ValueId seed);

}  // namespace allranks::rules
