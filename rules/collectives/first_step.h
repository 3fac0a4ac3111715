// What comes right behind the first step of a loop that trains.
//
// DDP agrees on the order of its buckets in the second forward that is made to train (Reducer::rebuild_buckets in
// torch/csrc/distributed/c10d/reducer.cpp). Before that, what one rank sends by itself is met by this, and not by what it belongs to.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

// `for i, x in enumerate(loader): model(x).sum().backward(); if i % 100 == 0 and rank == 0:` before the place. Tests of anything but
// the number of the round and the rank leave it open, which is no.
bool IsBehindFirstStep(const Context& context, const objects::Site& site);

}  // namespace allranks::rules
