#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace allranks::witness {

// "rank 0", "ranks 1-3 and 5"; "all 4 ranks" if that is the world, which is 0 where it does not matter.
std::string RanksText(const std::vector<uint32_t>& ranks, uint32_t world);

}  // namespace allranks::witness
