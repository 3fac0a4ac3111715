#include "runtime-verify/coordinator/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime-verify/coordinator/test_witness.h"

namespace allranks::verify {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using witness::Effect;
using witness::Witness;

// What DistributedSampler of PyTorch 1.13 gives for 10 samples, 2 ranks and seed 0 (python3-torch of Debian).
TEST(MeasureTest, SamplerIndicesAreThoseOfPyTorch) {
  EXPECT_THAT(SamplerIndices(10, 0, 0, 0, 2), ElementsAre(4, 7, 3, 0, 6));
  EXPECT_NE(SamplerIndices(10, 0, 1, 0, 2), SamplerIndices(10, 0, 0, 0, 2));
  // Padded: 10 samples for 4 ranks are 3 each.
  EXPECT_EQ(SamplerIndices(10, 0, 0, 3, 4).size(), 3u);
}

TEST(MeasureTest, EpochOrder) {
  const Verdict without = Measure(World(2, witness::EpochOrder{.samples = 10, .epochs = 3}));
  EXPECT_EQ(without.kind, VerdictKind::Reproduced);
  EXPECT_EQ(without.effect, Effect::Semantic);
  EXPECT_THAT(without.measured, HasSubstr("3 of 3 epochs have the same order on all 2 ranks"));
  const Verdict with = Measure(World(2, witness::EpochOrder{.samples = 10, .epochs = 3, .set_epoch = true}));
  EXPECT_EQ(with.kind, VerdictKind::NotReproduced);
  EXPECT_THAT(with.measured, HasSubstr("3 different orders"));
}

TEST(MeasureTest, DeviceOrdinal) {
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

TEST(MeasureTest, LearningRate) {
  const Verdict plain =
      Measure(World(4, witness::LearningRate{.batch = 8, .accumulation = 2, .learning_rate = 0.01}));
  EXPECT_EQ(plain.effect, Effect::Semantic);
  EXPECT_THAT(plain.measured, HasSubstr("effective batch 16 on 1 rank, 64 on 4 ranks"));
  EXPECT_THAT(plain.measured,
              HasSubstr("0.28 on 1 rank (128 steps) and 0.72 on 4 ranks (32 steps, rate 0.01)"));
  const Verdict scaled = Measure(World(4, witness::LearningRate{.learning_rate = 0.01, .scaled = true}));
  EXPECT_EQ(scaled.kind, VerdictKind::NotReproduced);
}

TEST(MeasureTest, SamplesThatNobodyDealsOut) {
  const Verdict all = Measure(World(4, witness::SampleShares{.samples = 64, .batch = 8}));
  EXPECT_EQ(all.effect, Effect::Semantic);
  EXPECT_EQ(all.measured,
            "4 ranks with 1 reader each take 256 samples in an epoch of 64: 64 are taken more than once (4 times at most), 0 "
            "never; the first step of all ranks has 8 different samples of 32");
  const Verdict dealt = Measure(World(4, witness::SampleShares{.samples = 64, .batch = 8, .by_rank = true}));
  EXPECT_EQ(dealt.kind, VerdictKind::NotReproduced);
  EXPECT_THAT(dealt.measured, HasSubstr("the first step of all ranks has 32 different samples of 32"));
}

TEST(MeasureTest, WorkersThatReadTheSame) {
  witness::SampleShares shares{.samples = 64, .batch = 4, .workers = 4, .by_rank = true};
  EXPECT_THAT(Measure(World(2, shares)).measured, HasSubstr("take 256 samples in an epoch of 64: 64 are taken more than once"));
  shares.by_worker = true;
  EXPECT_EQ(Measure(World(2, shares)).effect, Effect::Clean);
}

// Each rank takes its share of an order of its own, so that shares overlap; of one order they do not.
TEST(MeasureTest, ShardsOfDifferentOrdersOverlap) {
  witness::SampleShares shares{.samples = 1000, .by_rank = true, .seeds = {0, 1}};
  const Verdict differing = Measure(World(2, shares));
  EXPECT_EQ(differing.effect, Effect::Semantic);
  // A quarter of the samples by both ranks, a quarter by none.
  EXPECT_THAT(differing.measured, testing::ContainsRegex("2[0-9][0-9] are taken more than once .2 times at most., 2[0-9][0-9] never"));
  shares.seeds = {7, 7};
  EXPECT_EQ(Measure(World(2, shares)).effect, Effect::Clean);
  // Padded to equal shares: that is what the sampler is for.
  shares.samples = 999;
  EXPECT_EQ(Measure(World(2, shares)).effect, Effect::Clean);
}

TEST(MeasureTest, GradientsDividedTwice) {
  const Verdict divided = Measure(World(4, witness::AveragedGradient{.learning_rate = 0.1, .divided = true}));
  EXPECT_EQ(divided.effect, Effect::Semantic);
  EXPECT_THAT(divided.measured, HasSubstr("0.25 of it"));
  const Verdict plain = Measure(World(4, witness::AveragedGradient{.learning_rate = 0.1}));
  EXPECT_EQ(plain.kind, VerdictKind::NotReproduced);
  EXPECT_THAT(plain.measured, HasSubstr(", 1 of it"));
}

TEST(MeasureTest, TensorsThatNoBackendServes) {
  const auto effect = [](std::string backend, std::string device) {
    return Measure(World(2, witness::TensorMemory{.backend = std::move(backend), .device = std::move(device)})).effect;
  };
  EXPECT_EQ(effect("nccl", "cpu"), Effect::Error);
  EXPECT_EQ(effect("nccl", "cuda"), Effect::Clean);
  EXPECT_EQ(effect("gloo", "cpu"), Effect::Clean);
  EXPECT_EQ(effect("cpu:gloo,cuda:nccl", "cpu"), Effect::Clean);
  EXPECT_EQ(effect("cuda:nccl", "cpu"), Effect::Error);
  EXPECT_EQ(effect("cpu:nccl", "cpu"), Effect::Error);
}

}  // namespace
}  // namespace allranks::verify
