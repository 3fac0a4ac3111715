// Names of sets of ranks, as people say them.
#include <fmt/format.h>

#include "analyzer/traces/difference.h"

namespace allranks::traces {
namespace {

template <class Holds>
bool Matches(const World& world, RankSet ranks, Holds holds) {
  for (uint32_t rank = 0; rank < world.size(); ++rank) {
    if (ranks.has(rank) != holds(rank)) return false;
  }
  return true;
}

std::string NameByAxis(const World& world, RankSet ranks) {
  for (const auto& [axis, length] : world.mesh) {
    for (uint32_t value = 0; value < length; ++value) {
      if (!Matches(world, ranks, [&, along = axis](uint32_t rank) { return world.AxisRank(along, rank) == value; })) continue;
      if (axis == Axis::PipelineParallel) {
        if (value == 0) return "the first pipeline stage";
        if (value + 1 == length) return "the last pipeline stage";
      }
      return fmt::format("{} rank {}", knowledge::AxisName(axis), value);
    }
  }
  return {};
}

// Of two sides that are all ranks together the smaller one has a name; the others are the others.
bool ReachedAreOthers(const Difference& difference) {
  const RankSet reached = difference.reached;
  const RankSet missing = difference.not_reached;
  return reached.count() > missing.count() || (reached.count() == missing.count() && missing.has(0));
}

bool HasTwoSides(const Difference& difference) {
  const RankSet both = difference.reached | difference.not_reached;
  return !difference.reached.empty() && !difference.not_reached.empty() && both == RankSet::All(difference.world.size());
}

}  // namespace

std::string NameOfRanks(const World& world, RankSet ranks) {
  if (ranks.empty()) return "no rank";
  if (ranks == RankSet::All(world.size())) return "every rank";
  if (std::string by_axis = NameByAxis(world, ranks); !by_axis.empty()) return by_axis;
  if (ranks == RankSet::Of(0)) return "rank 0";
  if (world.nodes > 1 && world.mesh.empty()) {
    const auto is_local_zero = [&](uint32_t rank) { return world.LocalRank(rank) == 0; };
    if (Matches(world, ranks, is_local_zero)) return "local rank 0 of every node";
    if (Matches(world, ranks, [&](uint32_t rank) { return rank != 0 && is_local_zero(rank); })) {
      return "local rank 0 of other nodes";
    }
    if (Matches(world, ranks, [&](uint32_t rank) { return !is_local_zero(rank); })) return "other local ranks";
    if (Matches(world, ranks, [&](uint32_t rank) { return world.NodeRank(rank) == 0; })) return "the first node";
  }
  if (Matches(world, ranks, [](uint32_t rank) { return rank != 0; })) return "every rank but 0";
  std::string text;
  for (uint32_t rank = 0; rank < world.size(); ++rank) {
    if (ranks.has(rank)) text += fmt::format("{}{}", text.empty() ? "" : ", ", rank);
  }
  return (ranks.count() == 1 ? "rank " : "ranks ") + text;
}

namespace {

// What a local rank parts on one node it parts on each.
std::string NameOfSide(const Difference& difference, RankSet side) {
  const bool is_by_local_rank = difference.axes == knowledge::Axes::Of(Axis::Local) && difference.world.nodes == 1 && difference.world.mesh.empty();
  return is_by_local_rank && side == RankSet::Of(0) ? "local rank 0" : NameOfRanks(difference.world, side);
}

}  // namespace

std::string NameOfReached(const Difference& difference) {
  if (difference.is_own) return "some ranks";
  if (HasTwoSides(difference) && ReachedAreOthers(difference)) return "all other ranks";
  return NameOfSide(difference, difference.reached);
}

std::string NameOfNotReached(const Difference& difference) {
  if (difference.is_own) return "other ranks";
  if (OthersDoNotReach(difference)) return "all other ranks";
  return NameOfSide(difference, difference.not_reached);
}

bool OthersDoNotReach(const Difference& difference) {
  return !difference.is_own && HasTwoSides(difference) && !ReachedAreOthers(difference);
}

}  // namespace allranks::traces
