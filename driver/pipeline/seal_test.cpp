#include "driver/pipeline/seal.h"

#include <gtest/gtest.h>

namespace allranks::pipeline {
namespace {

TEST(SealTest, FitsWhatItWasMadeOfAndNothingElse) {
  const Seal seal("key");
  const std::string mark = seal.Of({"kind", "name"}, "bytes");
  EXPECT_EQ(mark.size(), Seal::kSize);
  EXPECT_TRUE(seal.Fits(mark, {"kind", "name"}, "bytes"));
  EXPECT_FALSE(seal.Fits(mark, {"kind", "name"}, "bytez"));
  EXPECT_FALSE(seal.Fits(mark, {"kind", "name"}, ""));
  EXPECT_FALSE(seal.Fits(mark, {"kin", "dname"}, "bytes"));
  EXPECT_FALSE(seal.Fits(mark, {"kind"}, "namebytes"));
  EXPECT_FALSE(seal.Fits(mark.substr(1), {"kind", "name"}, "bytes"));
  EXPECT_FALSE(seal.Fits("", {"kind", "name"}, "bytes"));
  EXPECT_TRUE(seal.Fits(seal.Of({}, ""), {}, ""));
}

TEST(SealTest, EachBitOfItCounts) {
  const Seal seal("key");
  const std::string mark = seal.Of({"name"}, "bytes");
  for (size_t i = 0; i < 8 * mark.size(); ++i) {
    std::string other = mark;
    other[i / 8] = static_cast<char>(other[i / 8] ^ (1 << (i % 8)));
    EXPECT_FALSE(seal.Fits(other, {"name"}, "bytes")) << i;
  }
}

TEST(SealTest, AnotherKeyMakesOthers) {
  const std::string mark = Seal("key").Of({}, "bytes");
  EXPECT_TRUE(Seal("key").Fits(mark, {}, "bytes"));
  for (const char* other : {"", "kez", "key1"}) EXPECT_FALSE(Seal(other).Fits(mark, {}, "bytes")) << other;
  EXPECT_FALSE(Seal(std::string(1000, 'k')).Fits(Seal(std::string(1001, 'k')).Of({}, "bytes"), {}, "bytes"));
}

TEST(SealTest, NoNumberIsUsedTwice) {
  const Seal seal("key");
  EXPECT_NE(seal.Of({}, "bytes"), seal.Of({}, "bytes"));
}

}  // namespace
}  // namespace allranks::pipeline
