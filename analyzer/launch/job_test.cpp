#include "analyzer/launch/job.h"

#include <gtest/gtest.h>

namespace allranks::launch {
namespace {

std::string ValueAt(const std::vector<std::string>& texts, size_t at) {
  std::vector<Word> args;
  for (const std::string& text : texts) args.emplace_back(Piece{.text = text, .origin = {}});
  return ValueOf(args, at).text();
}

TEST(ValueOfTest, IsBehindTheEqualsSignOrTheNextWord) {
  EXPECT_EQ(ValueAt({"--lr=0.1", "x"}, 0), "0.1");
  EXPECT_EQ(ValueAt({"--lr", "0.1"}, 0), "0.1");
  EXPECT_EQ(ValueAt({"--lr", "-1"}, 0), "-1");
  EXPECT_EQ(ValueAt({"--lr", "-.5"}, 0), "-.5");
  EXPECT_EQ(ValueAt({"trainer.devices=4", "x"}, 0), "4");
}

TEST(ValueOfTest, IsEmptyWhereAnotherArgumentFollows) {
  EXPECT_EQ(ValueAt({"--fp16", "--lr"}, 0), "");
  EXPECT_EQ(ValueAt({"--fp16", "-b"}, 0), "");
  EXPECT_EQ(ValueAt({"--fp16"}, 0), "");
  EXPECT_EQ(ValueAt({"~trainer.logger", "x"}, 0), "");
}

}  // namespace
}  // namespace allranks::launch
