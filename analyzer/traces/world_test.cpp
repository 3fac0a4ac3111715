#include "analyzer/traces/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/traces/difference.h"

namespace allranks::traces {
namespace {

using ::testing::SizeIs;

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

TEST(World, DataParallelismAloneIsTheWholeJob) {
  const std::vector<World> worlds = WorldsFor({.axes = knowledge::Axes::Of(Axis::DataParallel), .nodes = true});
  ASSERT_THAT(worlds, SizeIs(2));
  EXPECT_EQ(worlds[1].AxisPeers(Axis::DataParallel, 2), RankSet::All(4));
  EXPECT_EQ(worlds[1].AxisRank(Axis::DataParallel, 2), 2u);
  EXPECT_EQ(worlds[1].AxisSize(Axis::DataParallel), 4u);
}

TEST(World, SmallestThatRealisesWhatIsMentioned) {
  EXPECT_THAT(WorldsFor({}), SizeIs(1));
  EXPECT_THAT(WorldsFor({.nodes = true}), SizeIs(2));
  EXPECT_THAT(WorldsFor({.neighbours = true}), SizeIs(2));
  const std::vector<World> mesh = WorldsFor({.axes = knowledge::Axes::Of(Axis::PipelineParallel)});
  ASSERT_THAT(mesh, SizeIs(1));
  EXPECT_EQ(mesh[0].size(), 4u) << "an axis stands beside another one, else its group would be everybody";
}

TEST(World, NumbersThatRanksAreComparedWithNeedRanksBeyondThem) {
  EXPECT_EQ(WorldsFor({.largest = 2}).back().size(), 4u);
  EXPECT_EQ(WorldsFor({.largest = 8}).back().size(), 2u) << "the size of a whole job parts nobody";
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
