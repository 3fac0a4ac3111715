#include "witness/matching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allranks::witness {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using Ops = std::vector<ScheduledOp>;

ScheduledOp On(uint32_t comm, OpKind kind = OpKind::AllReduce) {
  return {.kind = kind, .comm = comm, .count = 4};
}
ScheduledOp Later(ScheduledOp op) {
  op.sync = false;
  return op;
}
ScheduledOp Send(int32_t peer) { return {.kind = OpKind::Send, .peer = peer}; }
ScheduledOp Recv(int32_t peer) { return {.kind = OpKind::Recv, .peer = peer}; }

// One list of operations a rank; the first communicator is the world.
Schedule Each(std::vector<Ops> ops, std::vector<std::vector<uint32_t>> groups = {}) {
  Schedule schedule{.world = static_cast<uint32_t>(ops.size()), .comms = {{}}, .class_of = {}, .ops = ops};
  for (uint32_t rank = 0; rank < schedule.world; ++rank) {
    schedule.comms[0].push_back(rank);
    schedule.class_of.push_back(rank);
  }
  schedule.comms.insert(schedule.comms.end(), groups.begin(), groups.end());
  return schedule;
}

TEST(MatchingTest, EqualSchedulesAreClean) {
  const Ops ops = {On(0), On(0, OpKind::Barrier), On(0, OpKind::AllGather)};
  const Outcome out = MatchStrictly(Each({ops, ops, ops}));
  EXPECT_EQ(out.effect, Effect::Clean);
  EXPECT_THAT(out.stuck, IsEmpty());
}

TEST(MatchingTest, WhoeverIsAloneWaitsForAllOthers) {
  const Outcome out = MatchStrictly(Each({{On(0), On(0)}, {On(0)}, {On(0)}}));
  EXPECT_EQ(out.effect, Effect::Deadlock);
  EXPECT_THAT(out.stuck, ElementsAre(StuckOp{0, 1, {1, 2}}));
  EXPECT_THAT(out.cycle, IsEmpty());
}

TEST(MatchingTest, DifferentKindsAndRootsNeverMeet) {
  EXPECT_THAT(MatchStrictly(Each({{On(0)}, {On(0, OpKind::Barrier)}})).stuck,
              ElementsAre(StuckOp{0, 0, {1}}, StuckOp{1, 0, {0}}));
  ScheduledOp from_0{.kind = OpKind::Broadcast, .root = 0}, from_1{.kind = OpKind::Broadcast, .root = 1};
  const Outcome out = MatchStrictly(Each({{from_0}, {from_1}}));
  EXPECT_EQ(out.effect, Effect::Deadlock);
  EXPECT_THAT(out.cycle, UnorderedElementsAre(0, 1));
}

TEST(MatchingTest, DifferentCountsAndReductionsAreWrongData) {
  ScheduledOp big = On(0), largest = On(0);
  big.count = 5;
  largest.redop = Redop::Max;
  const Outcome out = MatchStrictly(Each({{On(0), On(0)}, {big, largest}}));
  EXPECT_EQ(out.effect, Effect::Corruption);
  EXPECT_THAT(out.wrong, ElementsAre(RankOp{0, 0}, RankOp{0, 1}, RankOp{1, 0}, RankOp{1, 1}));
}

TEST(MatchingTest, ACircleOfThreeRanksOverThreeGroupsIsNamed) {
  const Outcome out =
      MatchStrictly(Each({{On(1), On(3)}, {On(2), On(1)}, {On(3), On(2)}}, {{0, 1}, {1, 2}, {0, 2}}));
  EXPECT_EQ(out.effect, Effect::Deadlock);
  EXPECT_THAT(out.cycle, UnorderedElementsAre(0, 1, 2));
  EXPECT_EQ(out.stuck.size(), 3u);
}

TEST(MatchingTest, EveryoneSendsFirst) {
  const Outcome out = MatchStrictly(Each({{Send(1), Recv(1)}, {Send(0), Recv(0)}}));
  EXPECT_THAT(out.stuck, ElementsAre(StuckOp{0, 0, {1}}, StuckOp{1, 0, {0}}));
  EXPECT_THAT(out.cycle, UnorderedElementsAre(0, 1));
  EXPECT_EQ(MatchStrictly(Each({{Send(1), Recv(1)}, {Recv(0), Send(0)}})).effect, Effect::Clean);
  EXPECT_EQ(MatchStrictly(Each({{Later(Send(1)), Recv(1), On(0, OpKind::Wait)},
                                {Later(Send(0)), Recv(0), On(0, OpKind::Wait)}}))
                .effect,
            Effect::Clean);
}

TEST(MatchingTest, ASendThatNobodyReceivesIsStuckEvenIfNobodyWaitsForIt) {
  EXPECT_THAT(MatchStrictly(Each({{Later(Send(1))}, {}})).stuck, ElementsAre(StuckOp{0, 0, {1}}));
}

TEST(MatchingTest, AWaitHoldsUntilWhatWasIssuedIsOver) {
  const Outcome out =
      MatchStrictly(Each({{Later(On(0)), On(0, OpKind::Wait), On(1)}, {On(1), On(0)}}, {{0, 1}}));
  EXPECT_EQ(out.effect, Effect::Deadlock);
  EXPECT_THAT(out.stuck, ElementsAre(StuckOp{0, 0, {1}}, StuckOp{1, 0, {0}}));
  EXPECT_EQ(
      MatchStrictly(Each({{Later(On(0)), On(1), On(0, OpKind::Wait)}, {On(1), On(0)}}, {{0, 1}})).effect,
      Effect::Clean);
}

TEST(MatchingTest, ARankOutsideTheGroupIsRefused) {
  const Outcome out = MatchStrictly(Each({{On(1)}, {On(1)}, {On(1)}}, {{0, 1}}));
  EXPECT_EQ(out.effect, Effect::Error);
  EXPECT_THAT(out.refused, ElementsAre(RankOp{2, 0}));
}

TEST(MatchingTest, AThousandRanks) {
  std::vector<Ops> ops(1000, Ops(200, On(0)));
  ops[500].pop_back();
  const Outcome out = MatchStrictly(Each(ops));
  EXPECT_EQ(out.stuck.size(), 999u);
  EXPECT_THAT(out.stuck[0].waits_for, ElementsAre(500));
}

}  // namespace
}  // namespace allranks::witness
