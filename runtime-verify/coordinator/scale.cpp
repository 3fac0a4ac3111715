#include "runtime-verify/coordinator/scale.h"

#include <algorithm>

namespace allranks::verify {
namespace {

bool IsGivenByRank(const witness::Scenario& scenario) {
  const auto* shares = std::get_if<witness::SampleShares>(&scenario);
  return std::holds_alternative<witness::DeviceOrdinal>(scenario) ||
         std::holds_alternative<witness::UnevenBatches>(scenario) ||
         std::holds_alternative<witness::UnusedParameter>(scenario) ||
         std::holds_alternative<witness::FileOrder>(scenario) ||
         std::holds_alternative<witness::LaunchedRanks>(scenario) ||
         (shares != nullptr && !shares->seeds.empty());
}

}  // namespace

witness::Witness ScaledTo(const witness::Witness& witness, uint32_t world, std::string* error) {
  if (world == witness.world) return witness;
  const bool has_parts =
      std::any_of(witness.comms.begin(), witness.comms.end(),
                  [&](const witness::Communicator& comm) { return comm.ranks.size() != witness.world; });
  if (world < witness.world) {
    *error = "it needs " + std::to_string(witness.world) + " ranks";
  } else if (has_parts) {
    *error = "it has groups of part of the ranks, so it runs with its own " + std::to_string(witness.world) +
             " ranks only";
  } else if (IsGivenByRank(witness.scenario)) {
    *error = "what it measures is given rank by rank, for " + std::to_string(witness.world) + " ranks";
  }
  if (!error->empty()) return witness;
  witness::Witness grown = witness;
  const auto largest = std::max_element(grown.classes.begin(), grown.classes.end(),
                                        [](const witness::RankClass& a, const witness::RankClass& b) {
                                          return a.ranks.size() < b.ranks.size();
                                        });
  // Of equal ones the last: rank 0 is the odd one more often than not.
  auto grows = largest;
  for (auto it = largest; it != grown.classes.end(); ++it) {
    if (it->ranks.size() == largest->ranks.size()) grows = it;
  }
  for (uint32_t rank = witness.world; rank < world; ++rank) {
    grows->ranks.push_back(rank);
    for (witness::Communicator& comm : grown.comms) comm.ranks.push_back(rank);
  }
  grown.world = world;
  grown.nodes = 1;
  return grown;
}

}  // namespace allranks::verify
