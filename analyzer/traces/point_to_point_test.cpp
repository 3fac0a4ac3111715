#include "analyzer/traces/point_to_point.h"

#include <gtest/gtest.h>

namespace allranks::traces {
namespace {

using Ranks = std::vector<std::vector<Step>>;

Step Send(int64_t to) { return {.kind = StepKind::Send, .peer = to, .members = {}}; }
Step Recv(int64_t from) { return {.kind = StepKind::Recv, .peer = from, .members = {}}; }
Step StartSend(int64_t to) { return {.kind = StepKind::StartSend, .peer = to, .members = {}}; }
Step StartRecv(int64_t from) { return {.kind = StepKind::StartRecv, .peer = from, .members = {}}; }
Step Leave(int64_t key) { return {.kind = StepKind::Leave, .tag = key, .members = {}}; }
Step Await(int64_t key) { return {.kind = StepKind::Await, .tag = key, .members = {}}; }
Step Barrier(uint32_t ranks) { return {.kind = StepKind::Collective, .members = RankSet::All(ranks)}; }

bool Ends(const Ranks& ranks, bool sends_return) {
  for (const auto& stuck : RunMessages(ranks, sends_return).stuck) {
    if (stuck) return false;
  }
  return true;
}

TEST(PointToPointTest, AllSendFirst) {
  const Ranks ranks = {{Send(1), Recv(2)}, {Send(2), Recv(0)}, {Send(0), Recv(1)}};
  EXPECT_TRUE(Ends(ranks, true));
  EXPECT_FALSE(Ends(ranks, false));
  EXPECT_TRUE(IsMetLater(ranks, RunMessages(ranks, false).stuck, 0));
}

TEST(PointToPointTest, OneReceivesFirst) {
  EXPECT_TRUE(Ends({{Send(1), Recv(2)}, {Send(2), Recv(0)}, {Recv(1), Send(0)}}, false));
}

TEST(PointToPointTest, AllReceiveFirst) {
  EXPECT_FALSE(Ends({{Recv(1), Send(1)}, {Recv(0), Send(0)}}, true));
  EXPECT_TRUE(Ends({{StartRecv(1), Send(1)}, {StartRecv(0), Send(0)}}, false));
  EXPECT_TRUE(Ends({{StartSend(1), Recv(1)}, {StartSend(0), Recv(0)}}, false));
}

TEST(PointToPointTest, BarrierBetweenSendAndReceive) {
  const Ranks ranks = {{Barrier(2), Recv(1)}, {Send(0), Barrier(2)}};
  EXPECT_TRUE(Ends(ranks, true));
  EXPECT_FALSE(Ends(ranks, false));
}

TEST(PointToPointTest, FromWhoeverSends) {
  EXPECT_TRUE(Ends({{Recv(kAnyPeer), Recv(kAnyPeer)}, {Send(0)}, {Send(0)}}, false));
  EXPECT_TRUE(Ends({{StartRecv(kAnyPeer)}, {Send(0)}}, false));
  EXPECT_FALSE(Ends({{Recv(kAnyPeer)}, {}}, true));
}

TEST(PointToPointTest, OfARankThatTheJobHasNot) {
  EXPECT_FALSE(Ends({{Recv(kNoPeer)}, {}}, true));
  EXPECT_TRUE(Ends({{Send(kNoPeer)}, {}}, true));
  EXPECT_FALSE(Ends({{Send(kNoPeer)}, {}}, false));
}

TEST(PointToPointTest, WhatIsLeftStaysForAll) {
  EXPECT_TRUE(Ends({{Leave(1)}, {Await(1), Await(1)}, {Await(1)}}, false));
  EXPECT_TRUE(RunMessages({{Leave(1)}, {}}, false).alone.empty());
  EXPECT_FALSE(Ends({{Leave(1)}, {Await(2)}}, false));
  EXPECT_TRUE(Ends({{Leave(1)}, {Await(kAnyTag)}}, false));
}

TEST(PointToPointTest, EachWaitsForWhatTheOtherLeavesLater) {
  const Ranks ranks = {{Await(1), Leave(2)}, {Await(2), Leave(1)}};
  EXPECT_TRUE(IsMetLater(ranks, RunMessages(ranks, true).stuck, 0));
}

TEST(PointToPointTest, MissingHalfIsNotMetLater) {
  const Ranks ranks = {{Send(1)}, {}};
  const auto stuck = RunMessages(ranks, false).stuck;
  ASSERT_TRUE(stuck[0].has_value());
  EXPECT_FALSE(IsMetLater(ranks, stuck, 0));
}

TEST(PointToPointTest, WaitingForWhatWasBegun) {
  const Step begun{.kind = StepKind::StartRecv, .peer = 1, .members = {}, .handle = 7};
  const Step wait{.kind = StepKind::Wait, .members = {}, .handle = 7};
  const Step of_another{.kind = StepKind::Wait, .members = {}, .handle = 8};
  EXPECT_FALSE(Ends({{begun, wait, Barrier(2)}, {Barrier(2), Send(0)}}, true));
  EXPECT_TRUE(Ends({{begun, Barrier(2), wait}, {Barrier(2), Send(0)}}, true));
  EXPECT_TRUE(Ends({{begun, of_another, Barrier(2)}, {Barrier(2), Send(0)}}, true));
}

TEST(PointToPointTest, WhatIsGivenUpNeedsNoOtherHalf) {
  const Step begun{.kind = StepKind::StartRecv, .peer = 1, .members = {}, .handle = 7};
  const Step wait{.kind = StepKind::Wait, .members = {}, .handle = 7};
  const Step cancel{.kind = StepKind::Cancel, .members = {}, .handle = 7};
  const Step of_another{.kind = StepKind::Cancel, .members = {}, .handle = 8};
  EXPECT_TRUE(Ends({{begun, cancel, wait}, {}}, false));
  EXPECT_TRUE(RunMessages({{begun, cancel, wait}, {}}, true).alone.empty());
  EXPECT_FALSE(Ends({{begun, of_another, wait}, {}}, true));
  EXPECT_TRUE(Ends({{begun, cancel, wait, Barrier(2)}, {Send(0), Barrier(2)}}, false));
}

TEST(PointToPointTest, TagsAndProbes) {
  const Step tagged{.kind = StepKind::Send, .peer = 1, .tag = 7, .members = {}};
  const Step same{.kind = StepKind::Recv, .peer = 0, .tag = 7, .members = {}};
  const Step other{.kind = StepKind::Recv, .peer = 0, .tag = 8, .members = {}};
  const Step probe{.kind = StepKind::Probe, .peer = 0, .tag = 7, .members = {}};
  EXPECT_TRUE(Ends({{tagged}, {same}}, false));
  EXPECT_FALSE(Ends({{tagged}, {other}}, true));
  EXPECT_TRUE(Ends({{tagged}, {probe, same}}, false));
  EXPECT_FALSE(Ends({{}, {probe}}, true));
  EXPECT_EQ(RunMessages({{tagged}, {same}}, true).messages.size(), 1u);
  EXPECT_EQ(RunMessages({{tagged}, {}}, true).alone.size(), 1u);
}

}  // namespace
}  // namespace allranks::traces
