#include "runtime-verify/simulator/ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allranks::verify {
namespace {

using witness::Effect;
using witness::OpKind;
using witness::Outcome;
using witness::Schedule;
using witness::ScheduledOp;

using Ops = std::vector<ScheduledOp>;

ScheduledOp AllReduce() { return {.kind = OpKind::AllReduce, .count = 1024}; }
ScheduledOp Broadcast(int32_t root = 0) { return {.kind = OpKind::Broadcast, .count = 1024, .root = root}; }
ScheduledOp Reduce(int32_t root = 0) { return {.kind = OpKind::Reduce, .count = 1024, .root = root}; }
ScheduledOp AllGather() { return {.kind = OpKind::AllGather, .count = 1024}; }
ScheduledOp ReduceScatter() { return {.kind = OpKind::ReduceScatter, .count = 1024}; }

// Rank 0 does `first`, all others `rest`, on one communicator.
Schedule Differing(uint32_t world, Ops first, Ops rest) {
  Schedule schedule{
      .world = world, .comms = {{}}, .class_of = std::vector<uint32_t>(world, 1), .ops = {first, rest}};
  for (uint32_t rank = 0; rank < world; ++rank) schedule.comms[0].push_back(rank);
  schedule.class_of[0] = 0;
  return schedule;
}

struct Case {
  std::string name;
  Ops first, rest;
  Effect low_latency, simple;
};

std::string Join(const std::vector<witness::StuckOp>& stuck) {
  std::string text;
  for (const witness::StuckOp& one : stuck)
    text += std::to_string(one.rank) + "." + std::to_string(one.op) + " ";
  return text;
}

class MismatchTest : public testing::TestWithParam<std::tuple<Case, uint32_t>> {};

TEST_P(MismatchTest, EndsAsTheTableSays) {
  const auto& [one, world] = GetParam();
  const Schedule schedule = Differing(world, one.first, one.rest);
  const Outcome low_latency = SimulateRing(schedule, Protocol::LowLatency, true);
  EXPECT_EQ(low_latency.effect, one.low_latency) << "LL, stuck: " << Join(low_latency.stuck);
  const Outcome simple = SimulateRing(schedule, Protocol::Simple, true);
  EXPECT_EQ(simple.effect, one.simple) << "Simple, stuck: " << Join(simple.stuck);
}

constexpr Effect kHang = Effect::Deadlock, kWrong = Effect::Corruption, kClean = Effect::Clean;

INSTANTIATE_TEST_SUITE_P(
    Ring, MismatchTest,
    testing::Combine(
        testing::Values(
            Case{"Matched",
                 {AllReduce(), Broadcast(), Reduce(), AllGather(), ReduceScatter(), AllReduce()},
                 {AllReduce(), Broadcast(), Reduce(), AllGather(), ReduceScatter(), AllReduce()},
                 kClean,
                 kClean},
            Case{"AllReduceAlone", {AllReduce()}, {}, kHang, kHang},
            Case{"AllReduceMeetsBroadcast", {AllReduce()}, {Broadcast()}, kHang, kHang},
            Case{"AllReduceMeetsReduce", {AllReduce()}, {Reduce()}, kHang, kHang},
            Case{"AllReduceMeetsAllGather", {AllReduce()}, {AllGather()}, kHang, kHang},
            Case{"AllReduceMeetsReduceScatter", {AllReduce()}, {ReduceScatter()}, kHang, kHang},
            Case{"AllGatherMeetsReduceScatter", {AllGather()}, {ReduceScatter()}, kWrong, kWrong},
            Case{"OrderSwapped", {AllReduce(), Broadcast()}, {Broadcast(), AllReduce()}, kHang, kHang},
            Case{"OrderOfAlikeSwapped",
                 {AllGather(), ReduceScatter()},
                 {ReduceScatter(), AllGather()},
                 kWrong,
                 kWrong},
            Case{"ReduceOfOtherRoot", {Reduce(0)}, {Reduce(1)}, kHang, kHang},
            Case{"ReductionDiffers",
                 {AllReduce()},
                 {{.kind = OpKind::AllReduce, .count = 1024, .redop = witness::Redop::Max}},
                 kWrong,
                 kWrong}),
        testing::Values(2u, 3u, 4u)),
    [](const auto& one) { return std::get<0>(one.param).name + std::to_string(std::get<1>(one.param)); });

// Where a broadcast's message and a part of a reduction have as many lines, LL cannot tell them apart.
TEST(RingTest, SwappedOrderOfFewElementsIsSilent) {
  ScheduledOp reduce = AllReduce(), broadcast = Broadcast();
  reduce.count = 8;
  broadcast.count = 4;
  const Schedule schedule = Differing(2, {reduce, broadcast}, {broadcast, reduce});
  EXPECT_EQ(SimulateRing(schedule, Protocol::LowLatency, true).effect, kWrong);
  EXPECT_EQ(SimulateRing(schedule, Protocol::Simple, true).effect, kHang);
}

// The last of the ring never comes: what was sent to it waits there for the next operation.
TEST(RingTest, ABroadcastNobodyReceivesPoisonsTheNextOperation) {
  Schedule schedule = Differing(3, {Broadcast()}, {Broadcast()});
  schedule.ops.push_back({});
  schedule.class_of[2] = 2;
  const Outcome alone = SimulateRing(schedule, Protocol::LowLatency, false);
  EXPECT_EQ(alone.effect, Effect::Clean);
  EXPECT_TRUE(alone.leaves_data);
  for (const Protocol protocol : {Protocol::LowLatency, Protocol::Simple}) {
    const Outcome fenced = SimulateRing(schedule, protocol, true);
    EXPECT_EQ(fenced.effect, Effect::Corruption) << NameOf(protocol);
    // The first fence stands behind all that the rank does.
    EXPECT_THAT(fenced.wrong, testing::Contains(witness::RankOp{2, 0}));
  }
}

// Eight steps lie between neighbours.
TEST(RingTest, ManyBroadcastsToNobodyBlockTheRootWhenTheConnectionsAreFull) {
  const Ops many(20, Broadcast());
  for (const Protocol protocol : {Protocol::LowLatency, Protocol::Simple}) {
    const Outcome two = SimulateRing(Differing(2, many, {}), protocol, true);
    ASSERT_EQ(two.stuck.size(), 1u);
    EXPECT_EQ(two.stuck[0].op, 8u);
    Schedule three = Differing(3, many, many);
    three.ops.push_back({});
    three.class_of[2] = 2;
    const Outcome forwarded = SimulateRing(three, protocol, true);
    ASSERT_EQ(forwarded.stuck.size(), 2u);
    EXPECT_EQ(forwarded.stuck[0].op, 16u);
    EXPECT_EQ(forwarded.stuck[1].op, 8u);
    EXPECT_THAT(forwarded.stuck[1].waits_for, testing::ElementsAre(2));
  }
}

TEST(RingTest, RootsOfBroadcastsThatDifferLeaveDataBehind) {
  const Schedule schedule = Differing(2, {Broadcast(0)}, {Broadcast(1)});
  const Outcome alone = SimulateRing(schedule, Protocol::LowLatency, false);
  EXPECT_EQ(alone.effect, Effect::Clean);
  EXPECT_TRUE(alone.leaves_data);
  EXPECT_NE(SimulateRing(schedule, Protocol::LowLatency, true).effect, Effect::Clean);
}

TEST(RingTest, CountsThatDiffer) {
  ScheduledOp more = Broadcast(), less = Broadcast();
  less.count = 512;
  // The receiver waits for lines that nobody sends, or takes fewer than there are; Simple counts steps only.
  EXPECT_EQ(SimulateRing(Differing(2, {less}, {more}), Protocol::LowLatency, true).effect, Effect::Deadlock);
  EXPECT_EQ(SimulateRing(Differing(2, {more}, {less}), Protocol::LowLatency, true).effect,
            Effect::Corruption);
  EXPECT_EQ(SimulateRing(Differing(2, {less}, {more}), Protocol::Simple, true).effect, Effect::Corruption);
}

TEST(RingTest, TwoCommunicatorsInOppositeOrderHang) {
  ScheduledOp on_second = AllReduce();
  on_second.comm = 1;
  Schedule schedule = Differing(2, {AllReduce(), on_second}, {on_second, AllReduce()});
  schedule.comms.push_back({0, 1});
  const Outcome out = SimulateRing(schedule, Protocol::Simple, true);
  EXPECT_EQ(out.effect, Effect::Deadlock);
  EXPECT_THAT(out.cycle, testing::UnorderedElementsAre(0, 1));
  // Not if nobody holds up the program's stream.
  for (auto& ops : schedule.ops) {
    for (ScheduledOp& op : ops) op.sync = false;
  }
  EXPECT_EQ(SimulateRing(schedule, Protocol::Simple, true).effect, Effect::Clean);
}

TEST(RingTest, AThousandRanks) {
  const Outcome out =
      SimulateRing(Differing(1000, {Broadcast(), AllReduce()}, {Broadcast()}), Protocol::LowLatency, true);
  ASSERT_EQ(out.stuck.size(), 1u);
  EXPECT_EQ(out.stuck[0].waits_for.size(), 999u);
}

}  // namespace
}  // namespace allranks::verify
