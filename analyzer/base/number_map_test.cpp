#include "analyzer/base/number_map.h"

#include <gtest/gtest.h>

namespace allranks::base {
namespace {

TEST(NumberMap, FindsWhatWasAdded) {
  NumberMap<int> map;
  EXPECT_EQ(map.Find(0), nullptr);
  for (uint32_t i = 0; i < 1000; ++i) map.Add(i * 64, static_cast<int>(i));
  for (uint32_t i = 0; i < 1000; ++i) {
    ASSERT_NE(map.Find(i * 64), nullptr);
    EXPECT_EQ(*map.Find(i * 64), static_cast<int>(i));
  }
  EXPECT_EQ(map.Find(1), nullptr);
  map.Add(64, 5);
  EXPECT_EQ(*map.Find(64), 1);
}

}  // namespace
}  // namespace allranks::base
