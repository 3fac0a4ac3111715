// Small concrete jobs on which rank conditions are decided (design: a world instead of a theorem prover).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "analyzer/variation/job_shape.h"
#include "analyzer/variation/value.h"

namespace allranks::traces {

using knowledge::Axis;
using variation::ValueId;

constexpr uint32_t kMostRanks = 64;

// A set of ranks of a world.
struct RankSet {
  uint64_t bits = 0;
  static constexpr RankSet Of(uint32_t rank) { return {uint64_t{1} << rank}; }
  static constexpr RankSet All(uint32_t count) { return {count < kMostRanks ? (uint64_t{1} << count) - 1 : ~uint64_t{0}}; }
  constexpr bool has(uint32_t rank) const { return rank < kMostRanks && (bits >> rank & 1u) != 0; }
  constexpr bool empty() const { return bits == 0; }
  constexpr uint32_t count() const { return static_cast<uint32_t>(std::popcount(bits)); }
  constexpr RankSet Without(RankSet others) const { return {bits & ~others.bits}; }
  friend constexpr RankSet operator|(RankSet a, RankSet b) { return {a.bits | b.bits}; }
  friend constexpr RankSet operator&(RankSet a, RankSet b) { return {a.bits & b.bits}; }
  friend constexpr bool operator==(RankSet, RankSet) = default;
};

// A dimension of a mesh, and how many ranks lie along it.
struct Dimension {
  constexpr Dimension(Axis the_axis, uint32_t the_length = 2) : axis(the_axis), length(the_length) {}
  Axis axis;
  uint32_t length;
  friend bool operator==(const Dimension&, const Dimension&) = default;
};
// The first one varies fastest.
using Mesh = std::vector<Dimension>;
uint32_t SizeOf(const Mesh& mesh);

// `nodes` × `per_node` ranks, all of which lie in the mesh, if there is one.
struct World {
  uint32_t nodes = 1;
  uint32_t per_node = 2;
  Mesh mesh;

  uint32_t size() const { return nodes * per_node; }
  // Then ranks that are numbered in pairs lie on two nodes.
  bool HasOddNodes() const { return nodes > 1 && per_node > 1 && per_node % 2 == 1; }
  uint32_t LocalRank(uint32_t rank) const { return rank % per_node; }
  uint32_t NodeRank(uint32_t rank) const { return rank / per_node; }
  // Of an axis that the world does not have every rank is the only one; data parallelism, where there is no other axis,
  // is the whole job.
  uint32_t AxisRank(Axis axis, uint32_t rank) const;
  uint32_t AxisSize(Axis axis) const;
  // The ranks that share every other coordinate with `rank`.
  RankSet AxisPeers(Axis axis, uint32_t rank) const;

  friend bool operator==(const World&, const World&) = default;

 private:
  bool IsWhole(Axis axis) const { return mesh.empty() && axis == Axis::DataParallel; }
};

// The same number of ranks on as many nodes as the user's jobs have.
World Reshaped(World world, const variation::JobShape& job);

}  // namespace allranks::traces
