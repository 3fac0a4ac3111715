#include "analyzer/base/watch.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "analyzer/platform/platform.h"

namespace allranks::base {
namespace {

// Steps until Cut is thrown; none: it was not.
CutKind StepsUntilCut(Watch& watch) {
  try {
    for (;;) watch.Step();
  } catch (const Cut& cut) {
    return cut.kind;
  }
}

void StepOften(Watch& watch) {
  for (int i = 0; i < 10'000; ++i) watch.Step();
}

TEST(Watch, WithoutBoundsNothingIsCut) {
  Watch watch({});
  const Watch::Turn turn(&watch, 3);
  EXPECT_NO_THROW(StepOften(watch));
  EXPECT_EQ(watch.steps(), 10'000u);
}

TEST(Watch, StopsWhereItIsAsked) {
  Watch watch({}, [] { return true; });
  EXPECT_EQ(StepsUntilCut(watch), CutKind::Stopped);
}

TEST(Watch, TimeIsThatOfTheFile) {
  Watch watch({.per_file = std::chrono::milliseconds(20)});
  {
    const Watch::Turn turn(&watch, 1);
    EXPECT_EQ(StepsUntilCut(watch), CutKind::Time);
  }
  EXPECT_THROW(Watch::Turn(&watch, 1), Cut);
  const Watch::Turn other(&watch, 0);
  EXPECT_NO_THROW(StepOften(watch));
}

TEST(Watch, WorkForAnotherFileDoesNotCount) {
  Watch watch({.per_file = std::chrono::milliseconds(100)});
  const Watch::Turn outer(&watch, 1);
  for (uint32_t file = 2; file < 5; ++file) {
    const Watch::Turn inner(&watch, file);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  EXPECT_NO_THROW(StepOften(watch));
}

TEST(Watch, MemoryIsThatOfTheProcess) {
  Watch watch({.memory_bytes = 1});
  EXPECT_EQ(StepsUntilCut(watch), CutKind::Memory);
  EXPECT_THROW(Watch::Turn(&watch, 1), Cut);
  Watch wide({.memory_bytes = uint64_t{1} << 60});
  EXPECT_NO_THROW(StepOften(wide));
  EXPECT_TRUE(Watch(Bounds{.memory_bytes = 50 * platform::MemoryNow()}.At(1)).IsFull());
  EXPECT_FALSE(Watch(Bounds{.memory_bytes = 50 * platform::MemoryNow()}.At(50)).IsFull());
}

TEST(Watch, MemoryOfAFileIsWhatTheProcessGrowsBy) {
  constexpr size_t kHeld = size_t{64} << 20;
  Watch watch({.memory_per_file = kHeld / 2});
  std::vector<char> held;
  {
    const Watch::Turn turn(&watch, 1);
    EXPECT_NO_THROW(StepOften(watch));
    held.assign(kHeld, 'x');
    EXPECT_EQ(StepsUntilCut(watch), CutKind::FileMemory);
  }
  EXPECT_THROW(Watch::Turn(&watch, 1), Cut);
  const Watch::Turn other(&watch, 2);
  EXPECT_NO_THROW(StepOften(watch));
}

}  // namespace
}  // namespace allranks::base
