#include "analyzer/source/one_line.h"

#include <gtest/gtest.h>

namespace allranks::source {
namespace {

TEST(OneLineTest, WhiteSpaceIsSingleBlanks) { EXPECT_EQ(OnOneLine("a\n    and  b", 20), "a and b"); }

TEST(OneLineTest, LongOnesEndBetweenWords) {
  EXPECT_EQ(OnOneLine("elapsed_time > limit_of_time and step > 0", 34), "elapsed_time > limit_of_time ...");
  EXPECT_EQ(OnOneLine("elapsed_time_in_all > limits[\"one of them\"]", 34), "elapsed_time_in_all > ...");
}

TEST(OneLineTest, OneLongWordIsCut) {
  EXPECT_EQ(OnOneLine("f(aaaaaaaaaa, bbbbbbbbbb)", 20), "f(aaaaaaaaaa, bbb...");
  EXPECT_EQ(OnOneLine("aaaaaaaaaaaaaaaa\u00e4\u00e4\u00e4\u00e4", 20), "aaaaaaaaaaaaaaaa...");
}

}  // namespace
}  // namespace allranks::source
