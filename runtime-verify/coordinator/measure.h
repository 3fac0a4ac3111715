// Findings that lead to no mismatch of operations and run no operation to show it: computed, in numbers.
#pragma once

#include "runtime-verify/coordinator/verdict.h"

namespace allranks::verify {

// Whether it is computed, not run as a schedule.
bool IsMeasured(const witness::Scenario& scenario);
Verdict Measure(const witness::Witness& witness);

// The indices that torch.utils.data.DistributedSampler(shuffle=True) gives a rank: torch.randperm takes its
// numbers from a Mersenne twister seeded with seed + epoch (ATen/native/TensorFactories.cpp, randperm_cpu).
std::vector<uint32_t> SamplerIndices(uint32_t samples, uint64_t seed, uint32_t epoch, uint32_t rank,
                                     uint32_t world);

}  // namespace allranks::verify
