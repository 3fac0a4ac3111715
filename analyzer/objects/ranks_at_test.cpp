#include "analyzer/objects/ranks_at.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class RanksAtTest : public ObjectsTest {
 protected:
  // The only call of a function.
  Site CallOf(std::string_view name) const {
    for (uint32_t f = 0; f < program().funcs.size(); ++f) {
      if (program().text(program().function(FuncId{f}).name) != name) continue;
      EXPECT_EQ(index().CallersOf(FuncId{f}).size(), 1u);
      return index().CallersOf(FuncId{f}).front();
    }
    ADD_FAILURE() << "no function " << name;
    return {};
  }
};

// Each function is called by all of the row above it: six to the twelfth ways lead to the place.
TEST_F(RanksAtTest, ManyWaysLeadToOnePlace) {
  constexpr int kRows = 12, kInARow = 6;
  std::string text = "def work():\n  print('here')\ndef last():\n  work()\n";
  for (int row = kRows; row-- > 0;) {
    for (int i = 0; i < kInARow; ++i) {
      text += "def f" + std::to_string(row) + "_" + std::to_string(i) + "():\n";
      if (row + 1 == kRows) text += "  last()\n";
      for (int j = 0; row + 1 < kRows && j < kInARow; ++j) text += "  f" + std::to_string(row + 1) + "_" + std::to_string(j) + "()\n";
    }
  }
  Read(text + "if dist.get_rank() == 0:\n  f0_0()\n");
  const Guards guards(program(), index());
  const RanksAt ranks(program(), knowledge(), facts(), index(), guards);
  const traces::World world = SmallJob(facts().job);
  EXPECT_FALSE(ranks.At(CallOf("work"), world).empty());
  EXPECT_FALSE(index().IsRepeated(CallOf("work")));
}

TEST_F(RanksAtTest, OneRankAloneCalls) {
  Read("def work():\n  print('here')\ndef a():\n  work()\nif dist.get_rank() == 0:\n  a()\n");
  const Guards guards(program(), index());
  const RanksAt ranks(program(), knowledge(), facts(), index(), guards);
  EXPECT_EQ(ranks.At(CallOf("work"), SmallJob(facts().job)), traces::RankSet::Of(0));
}

TEST_F(RanksAtTest, EachWorldHasItsOwnAnswers) {
  Read("def work():\n  print('here')\nif dist.get_rank() == 3:\n  work()\n");
  const Guards guards(program(), index());
  const RanksAt ranks(program(), knowledge(), facts(), index(), guards);
  const traces::World two{.nodes = 1, .per_node = 2, .mesh = {}};
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(ranks.At(CallOf("work"), SmallJob(facts().job)), traces::RankSet::Of(3));
    EXPECT_TRUE(ranks.At(CallOf("work"), two).empty());
  }
}

TEST_F(RanksAtTest, ACallerRepeats) {
  Read("def work():\n  print('here')\ndef a():\n  work()\nfor i in range(3):\n  a()\n");
  EXPECT_TRUE(index().IsRepeated(CallOf("work")));
}

}  // namespace
}  // namespace allranks::objects
