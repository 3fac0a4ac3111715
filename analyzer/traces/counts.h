// How many elements an operation has on a rank, where that depends on what the rank kept of its own, and whether a number
// is the same on all ranks.
#pragma once

#include "analyzer/traces/evaluate.h"

namespace allranks::traces {

// The axes along which a count certainly came about differently: items that passed a test on some ranks, rounds that not
// every rank ran. Empty of a number of which that is not seen, even if it varies, and of one that is the same on all
// ranks of the world, whatever the unknowns in it are.
knowledge::Axes OwnCountAxes(const variation::ValueStore& values, const knowledge::Knowledge& knowledge,
                             const World& world, ValueId count);

// Whether a number, or each item of a list, is the same on all ranks of the world, whatever the unknowns in it are that
// all ranks share. False if that cannot be seen.
bool IsSameOnAllRanks(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, const World& world,
                      ValueId value);

}  // namespace allranks::traces
