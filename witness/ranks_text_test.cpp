#include "witness/ranks_text.h"

#include <gtest/gtest.h>

namespace allranks::witness {
namespace {

TEST(RanksTextTest, Runs) {
  EXPECT_EQ(RanksText({0}, 4), "rank 0");
  EXPECT_EQ(RanksText({1, 2, 3}, 4), "ranks 1-3");
  EXPECT_EQ(RanksText({0, 1, 5, 6, 7}, 8), "ranks 0, 1 and 5-7");
  EXPECT_EQ(RanksText({0, 2, 4}, 8), "ranks 0, 2 and 4");
  EXPECT_EQ(RanksText({0, 1}, 2), "all 2 ranks");
}

}  // namespace
}  // namespace allranks::witness
