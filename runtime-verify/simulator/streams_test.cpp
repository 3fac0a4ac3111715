#include "runtime-verify/simulator/streams.h"

#include <gtest/gtest.h>

namespace allranks::verify {
namespace {

using witness::OpKind;
using witness::Schedule;
using witness::ScheduledOp;

ScheduledOp To(OpKind kind, int32_t peer) { return {.kind = kind, .peer = peer, .sync = false}; }

Schedule Of(std::vector<ScheduledOp> first, std::vector<ScheduledOp> second) {
  return {.world = 2, .comms = {{0, 1}}, .class_of = {0, 1}, .ops = {std::move(first), std::move(second)}};
}

const ScheduledOp kSum{.kind = OpKind::AllReduce};

TEST(StreamsTest, BothSendFirst) {
  const Schedule both = Of({To(OpKind::Send, 1), To(OpKind::Recv, 1)}, {To(OpKind::Send, 0), To(OpKind::Recv, 0)});
  EXPECT_TRUE(HangsOnStream(both));
  EXPECT_TRUE(HangsOnStream(WithPairCommunicators(both)));
  EXPECT_FALSE(HangsOnStream(Of({To(OpKind::Send, 1), To(OpKind::Recv, 1)}, {To(OpKind::Recv, 0), To(OpKind::Send, 0)})));
}

TEST(StreamsTest, ACollectiveBetweenThem) {
  const Schedule crossed = Of({To(OpKind::Send, 1), kSum}, {kSum, To(OpKind::Recv, 0)});
  EXPECT_TRUE(HangsOnStream(crossed));
  // PyTorch's pair has a stream of its own.
  const Schedule apart = WithPairCommunicators(crossed);
  ASSERT_EQ(apart.comms.size(), 2u);
  EXPECT_FALSE(HangsOnStream(apart));
  EXPECT_EQ(apart.OpsOf(1)[1].peer, 0);
}

TEST(StreamsTest, ABatchGoesTogether) {
  const auto batched = [](int32_t peer) {
    std::vector<ScheduledOp> ops = {To(OpKind::Send, peer), To(OpKind::Recv, peer)};
    for (ScheduledOp& op : ops) op.batch = 1;
    return ops;
  };
  const Schedule both = Of(batched(1), batched(0));
  EXPECT_FALSE(HangsOnStream(both));
  // Over the group's communicator, also in PyTorch: behind a collective it waits.
  EXPECT_EQ(WithPairCommunicators(both).comms.size(), 1u);
  Schedule crossed = both;
  crossed.ops[0].push_back(kSum);
  crossed.ops[1].insert(crossed.ops[1].begin(), kSum);
  EXPECT_TRUE(HangsOnStream(crossed));
}

TEST(StreamsTest, TheFirstOperationWaitsForAllMembers) {
  const ScheduledOp shared{.kind = OpKind::Broadcast, .root = 0, .sync = false};
  EXPECT_TRUE(HangsAtFirstUse(Of({shared}, {})));
  // Any operation will do, and none is waited for behind it.
  EXPECT_FALSE(HangsAtFirstUse(Of({shared, shared}, {kSum})));
  Schedule swapped = Of({shared, shared}, {shared, shared});
  swapped.comms.push_back({0, 1});
  swapped.ops[0][1].comm = swapped.ops[1][0].comm = 1;
  EXPECT_TRUE(HangsAtFirstUse(swapped));
}

TEST(StreamsTest, CollectivesAreTheRingsBusiness) { EXPECT_FALSE(HangsOnStream(Of({kSum}, {}))); }

}  // namespace
}  // namespace allranks::verify
