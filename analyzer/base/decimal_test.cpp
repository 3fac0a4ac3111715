#include "analyzer/base/decimal.h"

#include <gtest/gtest.h>

namespace allranks::base {
namespace {

TEST(DecimalTest, WholeTextsOnly) {
  EXPECT_EQ(DecimalOf("0.5"), 0.5);
  EXPECT_EQ(DecimalOf("-2e-3"), -2e-3);
  EXPECT_EQ(DecimalOf("1E+2"), 100);
  EXPECT_EQ(DecimalOf(".5"), 0.5);
  EXPECT_EQ(DecimalOf("7."), 7);
  for (const char* text : {"", "+1", " 1", "1 ", "1e", "1.2.3", "-", ".", "e5", "0x10", "inf", "nan", "1,5", "1_000"}) {
    EXPECT_EQ(DecimalOf(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace allranks::base
