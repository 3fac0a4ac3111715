#include "runtime-verify/coordinator/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime-verify/coordinator/test_witness.h"
#include "witness/matching.h"

namespace allranks::verify {
namespace {

using testing::HasSubstr;
using witness::Effect;
using witness::Witness;

witness::Outcome Matched(const Witness& w) {
  return witness::MatchStrictly(witness::MakeSchedule(Expanded(w)));
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
  EXPECT_EQ(by_all.kind, VerdictKind::Reproduced);
  EXPECT_EQ(by_all.effect, Effect::Error);
  EXPECT_THAT(by_all.measured, HasSubstr("every rank leaves a bucket of 3 unreduced"));
  const Verdict needless = judged({.buckets = 3, .unused = {{}, {}}, .find_unused = true});
  EXPECT_EQ(needless.effect, Effect::Semantic);
  EXPECT_THAT(needless.measured, HasSubstr("4 reductions a step instead of 3"));
  EXPECT_EQ(judged({.buckets = 3, .unused = {{}, {}}}).kind, VerdictKind::NotReproduced);
  EXPECT_EQ(judged({.buckets = 3, .unused = {{1}, {}}, .find_unused = true}).kind, VerdictKind::NotReproduced);
}

Verdict Judged(const Witness& w) {
  Verdict verdict{.ran = Expanded(w)};
  verdict.trials.push_back({.name = "model", .outcome = Matched(w)});
  verdict.effect = verdict.trials[0].outcome.effect;
  verdict.kind = verdict.effect == Effect::Clean ? VerdictKind::NotReproduced : VerdictKind::Reproduced;
  AddMeasure(w, &verdict);
  return verdict;
}

TEST(ScenarioTest, MicroStepsThatReduceForNothing) {
  const Witness every = World(2, witness::Accumulation{.micro_steps = 4, .buckets = 3});
  // Three reductions and the wait for them, four times.
  EXPECT_EQ(Expanded(every).ops[0].size(), 16u);
  EXPECT_EQ(Judged(every).effect, Effect::Semantic);
  EXPECT_EQ(Judged(every).measured,
            "12 reductions for each step of the optimizer and its 4 micro-steps on every rank, 9 of them for nothing");
  const Witness last = World(2, witness::Accumulation{.micro_steps = 4, .buckets = 3, .no_sync = true});
  EXPECT_EQ(Expanded(last).ops[0].size(), 4u);
  EXPECT_EQ(Judged(last).kind, VerdictKind::NotReproduced);
  EXPECT_THAT(Judged(last).measured, HasSubstr("3 reductions for each step of the optimizer"));
  EXPECT_LE(Expanded(World(2, witness::Accumulation{.micro_steps = 4096, .buckets = 64})).ops[0].size(), 256u);
}

TEST(ScenarioTest, AFileIsReadBeforeItIsWritten) {
  Witness w = World(4, witness::FileOrder{.writers = {0}});
  EXPECT_EQ(Judged(w).kind, VerdictKind::Reproduced);
  EXPECT_EQ(Judged(w).effect, Effect::Error);
  EXPECT_EQ(Judged(w).measured,
            "with rank 0 held before writing, ranks 1-3 of 4 get to where the file is read, and it is not there");
}

TEST(ScenarioTest, ABarrierKeepsReadersFromTheFile) {
  Witness w = World(4, witness::FileOrder{.writers = {0, 2}}, 2);
  w.comms.push_back({"world", {0, 1, 2, 3}});
  w.classes.push_back({.id = "all", .ranks = {0, 1, 2, 3}, .guard = ""});
  w.ops.push_back({{.id = "fence", .op = "barrier", .comm = "world", .redop = "", .source = "", .at = {}}});
  const Verdict verdict = Judged(w);
  EXPECT_EQ(verdict.kind, VerdictKind::NotReproduced);
  EXPECT_EQ(verdict.effect, Effect::Clean);
  EXPECT_EQ(verdict.measured, "with ranks 0 and 2 held before writing, ranks 1 and 3 wait before reading");
}

}  // namespace
}  // namespace allranks::verify
