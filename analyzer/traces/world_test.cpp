#include "analyzer/traces/mentions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/traces/difference.h"

namespace allranks::traces {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<uint32_t> Sizes(const Mentions& mentions) {
  std::vector<uint32_t> sizes;
  for (const World& world : WorldsFor(mentions)) sizes.push_back(world.size());
  return sizes;
}

TEST(World, RanksOfNodesCountFromEachNodesFirst) {
  const World world{.nodes = 2, .per_node = 2, .mesh = {}};
  EXPECT_EQ(world.size(), 4u);
  EXPECT_EQ(world.LocalRank(2), 0u);
  EXPECT_EQ(world.NodeRank(2), 1u);
}

TEST(World, FirstMeshAxisVariesFastest) {
  const World world{.nodes = 2, .per_node = 2, .mesh = {Axis::TensorParallel, Axis::DataParallel}};
  EXPECT_EQ(world.AxisRank(Axis::TensorParallel, 1), 1u);
  EXPECT_EQ(world.AxisRank(Axis::DataParallel, 1), 0u);
  EXPECT_EQ(world.AxisPeers(Axis::TensorParallel, 2), RankSet::Of(2) | RankSet::Of(3));
  EXPECT_EQ(world.AxisPeers(Axis::DataParallel, 2), RankSet::Of(0) | RankSet::Of(2));
  EXPECT_EQ(world.AxisSize(Axis::PipelineParallel), 1u);
  EXPECT_EQ(world.AxisPeers(Axis::PipelineParallel, 2), RankSet::Of(2));
}

TEST(World, DimensionsHaveAnyLength) {
  const World world{.nodes = 2, .per_node = 3, .mesh = {{Axis::TensorParallel, 3}, {Axis::DataParallel, 2}}};
  EXPECT_EQ(world.AxisRank(Axis::TensorParallel, 5), 2u);
  EXPECT_EQ(world.AxisRank(Axis::DataParallel, 4), 1u);
  EXPECT_EQ(world.AxisSize(Axis::TensorParallel), 3u);
  EXPECT_EQ(world.AxisPeers(Axis::TensorParallel, 4), RankSet::Of(3) | RankSet::Of(4) | RankSet::Of(5));
  EXPECT_EQ(world.AxisPeers(Axis::DataParallel, 4), RankSet::Of(1) | RankSet::Of(4));
}

TEST(World, AMeshWhoseShapeTheCodeSaysIsLaidOutSo) {
  const Mesh meshes[] = {{{Axis::TensorParallel, 1}, {Axis::DataParallel, 2}}, {{Axis::TensorParallel, 2}, {Axis::DataParallel, 2}},
                         {{Axis::TensorParallel, 3}, {Axis::DataParallel, 2}}, {{Axis::TensorParallel, 4}, {Axis::DataParallel, 2}}};
  EXPECT_THAT(Sizes({.axes = knowledge::Axes::Of(Axis::TensorParallel), .meshes = meshes}), ElementsAre(4, 2, 6));
  EXPECT_THAT(Sizes({.axes = knowledge::Axes::Of(Axis::TensorParallel), .meshes = meshes, .largest = 6}), ElementsAre(4, 2, 8)) << "one beside it";
}

TEST(World, DataParallelismAloneIsTheWholeJob) {
  const std::vector<World> worlds = WorldsFor({.axes = knowledge::Axes::Of(Axis::DataParallel), .nodes = true});
  ASSERT_THAT(worlds, SizeIs(4));
  EXPECT_EQ(worlds[3].AxisSize(Axis::DataParallel), 2u) << "and beside another axis it is a part of it";
  EXPECT_EQ(worlds[1].AxisPeers(Axis::DataParallel, 2), RankSet::All(4));
  EXPECT_EQ(worlds[1].AxisRank(Axis::DataParallel, 2), 2u);
  EXPECT_EQ(worlds[1].AxisSize(Axis::DataParallel), 4u);
}

TEST(World, SmallestThatRealisesWhatIsMentionedAndOneWithAMiddle) {
  EXPECT_THAT(Sizes({}), ElementsAre(2, 3));
  EXPECT_THAT(Sizes({.nodes = true}), ElementsAre(2, 4, 3));
  EXPECT_THAT(Sizes({.last_rank = true}), ElementsAre(2, 4)) << "the first, the last, and two that are neither";
  EXPECT_THAT(Sizes({.axes = knowledge::Axes::Of(Axis::PipelineParallel)}), ElementsAre(4))
      << "an axis stands beside another one, else its group would be everybody";
}

TEST(World, NumbersThatRanksAreComparedWithNeedRanksBeyondThem) {
  EXPECT_THAT(Sizes({.largest = 2}), ElementsAre(2, 4));
  EXPECT_THAT(Sizes({.largest = 8}), ElementsAre(2, 3)) << "what is computed from a rank may be any number";
  EXPECT_THAT(Sizes({.largest = 8, .ordered = 8}), ElementsAre(2, 10));
  EXPECT_THAT(Sizes({.largest = 63, .equal = 63}), ElementsAre(2, 64)) << "the largest job";
  EXPECT_THAT(Sizes({.largest = 100, .ordered = 100}), ElementsAre(2, 3)) << "no job that is looked at has such a rank";
  EXPECT_TRUE(IsBeyondWorlds({.largest = 100, .ordered = 100}));
  EXPECT_FALSE(IsBeyondWorlds({.largest = 8, .ordered = 8}));
  EXPECT_TRUE(IsBeyondWorlds({.axes = knowledge::Axes::Of(Axis::TensorParallel), .largest = 8}));
}

TEST(World, ASizeThatIsAskedForIsLookedAtBesideOthers) {
  variation::ValueStore values;
  Mentions mentions;
  MentionCollector collector(values, &mentions);
  const ValueId size = values.Coordinate(knowledge::Coordinate::WorldSize);
  const ValueId parts[] = {values.Compare(ir::CompareOp::Eq, size, values.Int(16)), values.Symbol(values.NewSymbol(), {})};
  collector.CollectSizes(values.And(parts));
  EXPECT_THAT(Sizes(mentions), ElementsAre(2, 3, 16));
}

// Values are looked into to a depth. What a long way reaches there without its parts, a short one finds with them.
TEST(World, WhatIsMentionedIsSeenByTheShortestWayToIt) {
  variation::ValueStore values;
  const ValueId local = values.Coordinate(knowledge::Coordinate::LocalRank);
  const ValueId shared = values.Unary(ir::UnaryOp::Minus, local);
  ValueId far = shared;
  for (uint32_t i = 0; i < 12; ++i) far = values.Derived(values.NewSymbol(), {&far, 1});
  Mentions mentions;
  MentionCollector collector(values, &mentions);
  collector.Collect(far);
  EXPECT_FALSE(mentions.nodes);
  const ValueId both[] = {far, shared};
  collector.Collect(values.Derived(values.NewSymbol(), both));
  EXPECT_TRUE(mentions.nodes);
}

TEST(World, NumbersThatRanksAreDividedByNeedTwoNodesOfThatSize) {
  EXPECT_THAT(Sizes({.divisor = 4}), ElementsAre(2, 3, 8));
  EXPECT_THAT(Sizes({.nodes = true, .divisor = 2}), ElementsAre(2, 4, 3)) << "there is one already";
  EXPECT_THAT(Sizes({.divisor = 64}), ElementsAre(2, 3));
  EXPECT_THAT(Sizes({.created_groups = true, .divisor = 2}), ElementsAre(2, 4, 4)) << "of 3 ranks groups of every other one are unequal";
  EXPECT_THAT(Sizes({.created_groups = true, .equal = 2, .divisor = 2}), ElementsAre(2, 4, 6)) << "a rank beside 0 and 2";
}

TEST(World, AProgramThatLeavesUnlessItHasItsSizeRunsOnThat) {
  EXPECT_THAT(Sizes({.sizes = 0b1000}), ElementsAre(4));
  EXPECT_THAT(Sizes({.sizes = 0b11111100}), ElementsAre(3)) << "at least three";
  EXPECT_THAT(Sizes({.nodes = true, .sizes = 0b10101010}), ElementsAre(2, 4)) << "an even number";
  EXPECT_THAT(Sizes({.largest = 3, .sizes = 0b1111}), ElementsAre(2, 4)) << "at most four, where the fourth rank is told apart";
  EXPECT_THAT(Sizes({.sizes = 0b1011}), ElementsAre(2, 4)) << "one, two or four";
}

TEST(RankNames, SetsAreNamedAsPeopleSayThem) {
  const World one{.nodes = 1, .per_node = 2, .mesh = {}};
  EXPECT_EQ(NameOfRanks(one, RankSet::Of(0)), "rank 0");
  EXPECT_EQ(NameOfRanks(one, RankSet::All(2)), "every rank");
  const World two{.nodes = 2, .per_node = 2, .mesh = {}};
  EXPECT_EQ(NameOfRanks(two, RankSet::Of(0) | RankSet::Of(2)), "local rank 0 of every node");
  EXPECT_EQ(NameOfRanks(two, RankSet::Of(2)), "local rank 0 of other nodes");
  EXPECT_EQ(NameOfRanks(two, RankSet::Of(1) | RankSet::Of(2) | RankSet::Of(3)), "every rank but 0");
  const World mesh{.nodes = 2, .per_node = 2, .mesh = {Axis::DataParallel, Axis::PipelineParallel}};
  EXPECT_EQ(NameOfRanks(mesh, RankSet::Of(2) | RankSet::Of(3)), "the last pipeline stage");
}

}  // namespace
}  // namespace allranks::traces
