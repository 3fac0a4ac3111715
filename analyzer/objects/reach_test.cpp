#include "analyzer/objects/reach.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class ReachTest : public ObjectsTest {
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
TEST_F(ReachTest, ManyWaysLeadToOnePlace) {
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
  const Reach reach(program(), knowledge(), facts(), index());
  const traces::World world = SmallJob(facts().job);
  EXPECT_FALSE(reach.Ranks(CallOf("work"), world).empty());
  EXPECT_FALSE(reach.IsRepeated(CallOf("work")));
}

TEST_F(ReachTest, OneRankAloneCalls) {
  Read("def work():\n  print('here')\ndef a():\n  work()\nif dist.get_rank() == 0:\n  a()\n");
  const Reach reach(program(), knowledge(), facts(), index());
  EXPECT_EQ(reach.Ranks(CallOf("work"), SmallJob(facts().job)), traces::RankSet::Of(0));
}

TEST_F(ReachTest, EachWorldHasItsOwnAnswers) {
  Read("def work():\n  print('here')\nif dist.get_rank() == 3:\n  work()\n");
  const Reach reach(program(), knowledge(), facts(), index());
  const traces::World two{.nodes = 1, .per_node = 2, .mesh = {}};
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(reach.Ranks(CallOf("work"), SmallJob(facts().job)), traces::RankSet::Of(3));
    EXPECT_TRUE(reach.Ranks(CallOf("work"), two).empty());
  }
}

TEST_F(ReachTest, ACallerRepeats) {
  Read("def work():\n  print('here')\ndef a():\n  work()\nfor i in range(3):\n  a()\n");
  const Reach reach(program(), knowledge(), facts(), index());
  EXPECT_TRUE(reach.IsRepeated(CallOf("work")));
}

}  // namespace
}  // namespace allranks::objects
