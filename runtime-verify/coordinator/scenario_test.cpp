#include "runtime-verify/coordinator/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "witness/matching.h"

namespace allranks::verify {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using witness::Effect;
using witness::Witness;

Witness World(uint32_t world, witness::Scenario scenario, uint32_t nodes = 1) {
  Witness w{.finding = "AR", .world = world, .nodes = nodes};
  w.scenario = std::move(scenario);
  return w;
}

witness::Outcome Matched(const Witness& w) {
  return witness::MatchStrictly(witness::MakeSchedule(Expanded(w)));
}

// What DistributedSampler of PyTorch 1.13 gives for 10 samples, 2 ranks and seed 0 (python3-torch of Debian).
TEST(ScenarioTest, SamplerIndicesAreThoseOfPyTorch) {
  EXPECT_THAT(SamplerIndices(10, 0, 0, 0, 2), ElementsAre(4, 7, 3, 0, 6));
  EXPECT_NE(SamplerIndices(10, 0, 1, 0, 2), SamplerIndices(10, 0, 0, 0, 2));
  // Padded: 10 samples for 4 ranks are 3 each.
  EXPECT_EQ(SamplerIndices(10, 0, 0, 3, 4).size(), 3u);
}

TEST(ScenarioTest, EpochOrder) {
  const Verdict without = Measure(World(2, witness::EpochOrder{.samples = 10, .epochs = 3}));
  EXPECT_EQ(without.kind, VerdictKind::Confirmed);
  EXPECT_EQ(without.effect, Effect::Semantic);
  EXPECT_THAT(without.measured, HasSubstr("3 of 3 epochs have the same order on all 2 ranks"));
  const Verdict with = Measure(World(2, witness::EpochOrder{.samples = 10, .epochs = 3, .set_epoch = true}));
  EXPECT_EQ(with.kind, VerdictKind::NotReproduced);
  EXPECT_THAT(with.measured, HasSubstr("3 different orders"));
}

TEST(ScenarioTest, DeviceOrdinal) {
  const Verdict global = Measure(World(4, witness::DeviceOrdinal{.devices = 2, .ordinals = {0, 1, 2, 3}}, 2));
  EXPECT_EQ(global.effect, Effect::Error);
  EXPECT_THAT(global.measured,
              HasSubstr("ranks 2, 3 of 4 select a device that a node with 2 devices does not have: rank 2 "
                        "on node 1 asks for device 2"));
  const Verdict local = Measure(World(4, witness::DeviceOrdinal{.devices = 2, .ordinals = {0, 1, 0, 1}}, 2));
  EXPECT_EQ(local.kind, VerdictKind::NotReproduced);
  const Verdict shared = Measure(World(4, witness::DeviceOrdinal{.devices = 2, .ordinals = {0, 0, 0, 0}}, 2));
  EXPECT_THAT(shared.measured, HasSubstr("ranks 1 and 3 select a device that another rank"));
}

TEST(ScenarioTest, LearningRate) {
  const Verdict plain =
      Measure(World(4, witness::LearningRate{.batch = 8, .accumulation = 2, .learning_rate = 0.01}));
  EXPECT_EQ(plain.effect, Effect::Semantic);
  EXPECT_THAT(plain.measured, HasSubstr("effective batch 16 on 1 rank, 64 on 4 ranks"));
  EXPECT_THAT(plain.measured,
              HasSubstr("0.28 on 1 rank (128 steps) and 0.72 on 4 ranks (32 steps, rate 0.01)"));
  const Verdict scaled = Measure(World(4, witness::LearningRate{.learning_rate = 0.01, .scaled = true}));
  EXPECT_EQ(scaled.kind, VerdictKind::NotReproduced);
}

TEST(ScenarioTest, UnevenBatchesHangUnlessJoined) {
  witness::UnevenBatches uneven{.samples = {3, 3, 2, 2}, .batch = {1, 1, 1, 1}};
  const Witness w = World(4, uneven);
  const witness::Outcome out = Matched(w);
  ASSERT_EQ(out.stuck.size(), 2u);
  EXPECT_EQ(out.stuck[0].waits_for, (std::vector<uint32_t>{2, 3}));
  Verdict verdict{.ran = Expanded(w)};
  verdict.trials.push_back({.name = "model", .outcome = out});
  AddMeasure(w, &verdict);
  EXPECT_EQ(verdict.measured,
            "batches by rank: 3, 3, 2, 2; behind the shortest, ranks 0, 1 wait forever");
  uneven.join = true;
  EXPECT_EQ(Matched(World(4, uneven)).effect, Effect::Clean);
  uneven.join = false;
  uneven.samples = {3, 4, 3, 3};
  uneven.batch = {2, 2, 2, 2};
  uneven.drop_last = true;
  EXPECT_EQ(Matched(World(4, uneven)).effect, Effect::Deadlock);
  uneven.samples = {3, 3, 2, 3};
  EXPECT_EQ(Matched(World(4, uneven)).effect, Effect::Clean);
}

// Many batches are cut to what differs.
TEST(ScenarioTest, LongEpochsStaySmall) {
  const Witness w = Expanded(World(2, witness::UnevenBatches{.samples = {1000000, 999999}, .batch = {1, 1}}));
  EXPECT_EQ(w.ops[0].size(), 3u);
  EXPECT_EQ(w.ops[1].size(), 2u);
}

TEST(ScenarioTest, ABucketThatOneRankNeverFills) {
  witness::UnusedParameter unused{.buckets = 3, .unused = {{1}, {}}};
  const Witness w = World(2, unused);
  const witness::Outcome out = Matched(w);
  ASSERT_EQ(out.stuck.size(), 1u);
  EXPECT_EQ(out.stuck[0].rank, 1u);
  EXPECT_EQ(Expanded(w).ops[1][out.stuck[0].op].id, "bucket1");
  Verdict verdict{.ran = Expanded(w)};
  verdict.trials.push_back({.name = "model", .outcome = out});
  AddMeasure(w, &verdict);
  EXPECT_THAT(verdict.measured, HasSubstr("rank 0 leaves a bucket of 3 unreduced"));
  unused.find_unused = true;
  EXPECT_EQ(Matched(World(2, unused)).effect, Effect::Clean);
}

// The operations of both go through, so that only what DDP does with them tells.
TEST(ScenarioTest, WhatDdpMakesOfBucketsThatGoThrough) {
  const auto judged = [](const witness::UnusedParameter& scenario) {
    Verdict verdict{.kind = VerdictKind::NotReproduced};
    AddMeasure(World(2, scenario), &verdict);
    return verdict;
  };
  const Verdict by_all = judged({.buckets = 3, .unused = {{1}, {1}}});
  EXPECT_EQ(by_all.kind, VerdictKind::Confirmed);
  EXPECT_EQ(by_all.effect, Effect::Error);
  EXPECT_THAT(by_all.measured, HasSubstr("every rank leaves a bucket of 3 unreduced"));
  const Verdict needless = judged({.buckets = 3, .unused = {{}, {}}, .find_unused = true});
  EXPECT_EQ(needless.effect, Effect::Semantic);
  EXPECT_THAT(needless.measured, HasSubstr("4 reductions a step instead of 3"));
  EXPECT_EQ(judged({.buckets = 3, .unused = {{}, {}}}).kind, VerdictKind::NotReproduced);
  EXPECT_EQ(judged({.buckets = 3, .unused = {{1}, {}}, .find_unused = true}).kind, VerdictKind::NotReproduced);
}

}  // namespace
}  // namespace allranks::verify
