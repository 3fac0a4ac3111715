#pragma once

#include "witness/outcome.h"

namespace allranks::witness {

// A shortest circle of ranks that wait for one another, through some rank that is on one: each waits for the
// next, the last for the first. Empty if every chain of waiting ends at a rank that has nothing more to do.
std::vector<uint32_t> FindCycle(const std::vector<StuckOp>& stuck, uint32_t world);

}  // namespace allranks::witness
