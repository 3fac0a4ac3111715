#include "analyzer/variation/yields.h"

#include "analyzer/variation/parts_test.h"

namespace allranks::variation {
namespace {

class YieldsTest : public PartsTest {
 protected:
  ValueId HowOften(ValueId condition) { return store.Counted(tables.NameSymbol("how often"), {&condition, 1}); }

  static ir::ExprId Place(uint32_t index) { return ir::ExprId{index}; }

  Containers containers{tables, ir::Language::Python};
  Yields yields{tables};
};

TEST_F(YieldsTest, OneItemOrOneOfSeveral) {
  EXPECT_EQ(yields.ItemValue(), store.NoneValue());
  yields.Note({.site = Place(1), .item = store.Int(1), .condition = store.True(), .count = store.Int(1), .how_often = HowOften(store.True())});
  EXPECT_EQ(yields.ItemValue(), store.Int(1));
  yields.Note({.site = Place(2), .item = Rank(), .condition = store.True(), .count = store.Int(1), .how_often = HowOften(store.True())});
  EXPECT_TRUE(store.axes(yields.ItemValue()).has(Axis::Global));
}

TEST_F(YieldsTest, AsManyOnAllRanksNeedNoNumber) {
  yields.Note({.site = Place(3), .item = store.Int(1), .condition = store.True(), .count = store.Int(1), .how_often = HowOften(store.True())});
  EXPECT_FALSE(yields.Count(containers, {}));
}

TEST_F(YieldsTest, PlacesThatOneRankComesToAreCounted) {
  yields.Note({.site = Place(4), .item = store.Int(1), .condition = store.True(), .count = store.Int(1), .how_often = HowOften(store.True())});
  yields.Note({.site = Place(5), .item = store.Int(2), .condition = RankIs(0), .count = store.Int(1), .how_often = HowOften(RankIs(0))});
  EXPECT_EQ(yields.Count(containers, {}), store.Binary(ir::BinaryOp::Add, store.Int(1), store.Select(RankIs(0), store.Int(1), store.Int(0))));
}

TEST_F(YieldsTest, APlaceInEachRoundOfALoopIsCountedWithItsRounds) {
  const ValueId rounds = store.Binary(ir::BinaryOp::Add, Rank(), store.Int(1));
  // What is known of the loop when it is gone through first is not the last word.
  yields.Note({.site = Place(1), .item = store.Int(1), .condition = store.True(), .count = Rank(), .how_often = Rank()});
  yields.Note({.site = Place(1), .item = store.Int(1), .condition = store.True(), .count = rounds, .how_often = rounds});
  EXPECT_EQ(yields.Count(containers, {}), rounds);
}

TEST_F(YieldsTest, WithAPlaceInALoopThatSomeRoundsLeaveOutTheNumberIsNotKnown) {
  yields.Note({.site = Place(6), .item = store.Int(1)});
  yields.Note({.site = Place(7), .item = store.Int(2), .condition = RankIs(0), .count = store.Int(1), .how_often = HowOften(RankIs(0))});
  const ValueId count = yields.Count(containers, {});
  ASSERT_TRUE(count);
  EXPECT_EQ(store[count].kind, ValueKind::Derived);
  EXPECT_TRUE(store.axes(count).has(Axis::Global));
}

TEST_F(YieldsTest, DataOfARankSaysNothingOfTheNumber) {
  const ValueId condition = OfData();
  yields.Note({.site = Place(8), .item = store.Int(1), .condition = condition, .count = store.Int(1), .how_often = HowOften(condition)});
  EXPECT_FALSE(yields.Count(containers, {}));
}

}  // namespace
}  // namespace allranks::variation
