#include "analyzer/objects/rank_words.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class RankWordsTest : public ObjectsTest {
 protected:
  // Whether the test that is handed to `asked(...)` speaks of ranks.
  bool Speaks(const std::string& text) {
    Read(text);
    return RankWords(program(), facts(), index()).Speaks(Asked().function, Asked().expr);
  }
};

TEST_F(RankWordsTest, AWordForARoleInAName) {
  EXPECT_TRUE(Speaks("def f(is_master):\n  asked(is_master)\n"));
  EXPECT_TRUE(Speaks("def f(self):\n  asked(self.is_main_process)\n"));
  EXPECT_FALSE(Speaks("def f(verbose):\n  asked(verbose)\n"));
}

TEST_F(RankWordsTest, PartsOfATest) {
  EXPECT_TRUE(Speaks("def f(verbose, is_master):\n  asked(verbose and not is_master)\n"));
  EXPECT_TRUE(Speaks("def f(self, is_master):\n  asked(is_master(self.args))\n"));
}

TEST_F(RankWordsTest, WhatWasGivenSuchATest) {
  EXPECT_TRUE(Speaks("def f(args, is_master):\n  args.save = args.logs and is_master\n  asked(args.save)\n"));
  EXPECT_FALSE(Speaks("def f(args):\n  args.save = args.logs\n  asked(args.save)\n"));
}

TEST_F(RankWordsTest, WhatIsEmptiedOnSomeRanks) {
  EXPECT_TRUE(Speaks("class A:\n  def f(self):\n    if dist.get_rank() != 0:\n      self.folder = None\n    asked(self.folder)\n"));
}

TEST_F(RankWordsTest, ARankIsComparedOrSaysNothing) {
  EXPECT_TRUE(Speaks("def f(args):\n  args.gpu = dist.get_rank()\n  asked(args.gpu == 0)\n"));
  EXPECT_FALSE(Speaks("def f(args, x):\n  args.gpu = dist.get_rank()\n  asked(x.mean() > 1)\n"));
}

}  // namespace
}  // namespace allranks::objects
