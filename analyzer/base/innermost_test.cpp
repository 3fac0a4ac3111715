#include "analyzer/base/innermost.h"

#include <gtest/gtest.h>

namespace allranks::base {
namespace {

using Range = Innermost::Range;

// As it is said: each range is looked at.
uint32_t ByLooking(const std::vector<Range>& ranges, uint32_t position) {
  uint32_t found = Innermost::kNone;
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    const auto [begin, end] = ranges[i];
    if (position < begin || position >= end) continue;
    if (found == Innermost::kNone || end - begin <= ranges[found].end - ranges[found].begin) found = i;
  }
  return found;
}

TEST(Innermost, NothingHoldsWhatLiesOutside) {
  EXPECT_EQ(Innermost({}).At(0), Innermost::kNone);
  const std::vector<Range> ranges = {{3, 5}, {7, 7}};
  const Innermost innermost(ranges);
  EXPECT_EQ(innermost.At(2), Innermost::kNone);
  EXPECT_EQ(innermost.At(3), 0u);
  EXPECT_EQ(innermost.At(5), Innermost::kNone);
  EXPECT_EQ(innermost.At(7), Innermost::kNone);
}

TEST(Innermost, TheShortestAndThenTheLast) {
  const std::vector<Range> ranges = {{0, 10}, {2, 4}, {2, 4}, {4, 6}, {1, 9}};
  const Innermost innermost(ranges);
  EXPECT_EQ(innermost.At(0), 0u);
  EXPECT_EQ(innermost.At(1), 4u);
  EXPECT_EQ(innermost.At(3), 2u);
  EXPECT_EQ(innermost.At(4), 3u);
  EXPECT_EQ(innermost.At(9), 0u);
}

TEST(Innermost, AsByLookingAtEachWhateverOverlaps) {
  constexpr uint32_t kLength = 60;
  uint32_t state = 1;
  const auto next = [&state](uint32_t below) { return (state = state * 1664525u + 1013904223u) / 65536u % below; };
  for (uint32_t count = 0; count < kLength; ++count) {
    std::vector<Range> ranges;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t begin = next(kLength);
      ranges.push_back({begin, begin + next(count % 2 == 0 ? 8 : kLength)});
    }
    const Innermost innermost(ranges);
    for (uint32_t position = 0; position < 2 * kLength; ++position) {
      ASSERT_EQ(innermost.At(position), ByLooking(ranges, position)) << count << " ranges, at " << position;
    }
  }
}

}  // namespace
}  // namespace allranks::base
