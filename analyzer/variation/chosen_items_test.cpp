#include "analyzer/variation/chosen_items.h"

#include "analyzer/variation/parts_test.h"

namespace allranks::variation {
namespace {

class ChosenItemsTest : public PartsTest {
 protected:
  ValueId Function(uint32_t number) { return store.Make(Value::Function(FuncId{number}), {}); }

  Containers containers{tables, ir::Language::Python};
  ChosenItems chosen{tables, containers};
};

TEST_F(ChosenItemsTest, ATestChoosesOneOfTwo) {
  const ValueId list = List({Text("other"), Text("main")});
  EXPECT_EQ(chosen.ChosenBy(list, RankIs(0)), store.Select(RankIs(0), Text("main"), Text("other")));
  const ValueId table = Dict({store.True(), Text("main"), store.False(), Text("other")});
  EXPECT_EQ(chosen.ChosenBy(table, RankIs(0)), store.Select(RankIs(0), Text("main"), Text("other")));
  EXPECT_FALSE(chosen.ChosenBy(list, Setting()));
}

TEST_F(ChosenItemsTest, ANumberOfEachRankChoosesOneOfAFew) {
  const ValueId list = List({Text("a"), Text("b"), Text("c")});
  const auto is = [&](int64_t number) { return RankIs(number); };
  EXPECT_EQ(chosen.ChosenBy(list, Rank()), store.Select(is(0), Text("a"), store.Select(is(1), Text("b"), Text("c"))));
  // Numbers are calculated later.
  EXPECT_FALSE(chosen.ChosenBy(List({store.Int(7), store.Int(8), store.Int(9)}), Rank()));
  EXPECT_FALSE(chosen.ChosenBy(list, store.Coordinate(knowledge::Coordinate::WorldSize)));
}

TEST_F(ChosenItemsTest, AFunctionOutOfATable) {
  const ValueId table = Dict({Text("a"), Function(1), Text("b"), Function(2)});
  const ValueId picked = chosen.OneOfTable(table, Setting());
  ASSERT_TRUE(picked);
  EXPECT_EQ(store[picked].kind, ValueKind::Select);
  EXPECT_FALSE(chosen.OneOfTable(Dict({Text("a"), Function(1), Text("b"), store.Int(2)}), Setting()));
}

TEST_F(ChosenItemsTest, AnObjectThatWasAddedOnAllRanks) {
  const ValueId network = store.Make(Value::Object(names.Intern("torch.nn.Linear")), {});
  const ValueId often = store.Counted(tables.NameSymbol("how often"), {});
  EXPECT_EQ(chosen.OneOfAdded(containers.Grown({List({}), network, often}, {}), Setting()), network);
  const ValueId condition = RankIs(0);
  const ValueId of_one = store.Counted(tables.NameSymbol("how often"), {&condition, 1});
  EXPECT_FALSE(chosen.OneOfAdded(containers.Grown({List({}), network, of_one}, {}), Setting()));
  // Which one is another question on each rank.
  EXPECT_FALSE(chosen.OneOfAdded(containers.Grown({List({}), network, often}, {}), Rank()));
}

}  // namespace
}  // namespace allranks::variation
