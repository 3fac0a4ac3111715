#include "witness/ranks_text.h"

namespace allranks::witness {

std::string RanksText(const std::vector<uint32_t>& ranks, uint32_t world) {
  if (world > 1 && ranks.size() == world) return "all " + std::to_string(world) + " ranks";
  std::string list;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!list.empty()) list += last + 1 == ranks.size() ? " and " : ", ";
    list += std::to_string(ranks[i]);
    if (last > i) list += (last == i + 1 ? ", " : "-") + std::to_string(ranks[last]);
    i = last + 1;
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + list;
}

}  // namespace allranks::witness
