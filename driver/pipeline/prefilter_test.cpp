#include "driver/pipeline/prefilter.h"

#include <gtest/gtest.h>

#include <random>

namespace allranks::pipeline {
namespace {

bool Mentions(const std::vector<std::string>& names, std::string_view text) { return Prefilter(names).Mentions(text); }

TEST(PrefilterTest, FindsNamesAnywhere) {
  const std::vector<std::string> names = {"torch.distributed", "deepspeed", "mpi4py"};
  EXPECT_TRUE(Mentions(names, "import deepspeed"));
  EXPECT_TRUE(Mentions(names, "import torch.distributed as dist\n"));
  EXPECT_TRUE(Mentions(names, "mpi4py"));
  EXPECT_FALSE(Mentions(names, "import torch\nimport distributed\n"));
  EXPECT_FALSE(Mentions(names, ""));
}

TEST(PrefilterTest, OverlappingBeginningsFallBack) {
  EXPECT_TRUE(Mentions({"abcd", "bce"}, "abce"));
  EXPECT_TRUE(Mentions({"aab"}, "aaab"));
  EXPECT_TRUE(Mentions({"abab", "ba"}, "xba"));
  EXPECT_TRUE(Mentions({"a", "abc"}, "za"));
  EXPECT_FALSE(Mentions({"aab"}, "abab"));
}

TEST(PrefilterTest, NothingToLookForMeansEverythingMatters) {
  EXPECT_TRUE(Mentions({}, "x"));
  EXPECT_TRUE(Mentions({""}, ""));
}

TEST(PrefilterTest, AgreesWithPlainSearch) {
  std::mt19937 random(7);
  auto word = [&](size_t length) {
    std::string text;
    for (size_t i = 0; i < length; ++i) text += static_cast<char>('a' + random() % 3);
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> names;
    for (size_t i = 0; i < 1 + random() % 6; ++i) names.push_back(word((round % 2 == 0 ? 1 : 4) + random() % 5));
    const std::string text = word(random() % 40);
    bool expected = false;
    for (const std::string& name : names) expected = expected || text.find(name) != std::string::npos;
    EXPECT_EQ(Mentions(names, text), expected) << text;
  }
}

}  // namespace
}  // namespace allranks::pipeline
