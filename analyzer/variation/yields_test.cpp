#include "analyzer/variation/yields.h"

#include "analyzer/variation/parts_test.h"

namespace allranks::variation {
namespace {

class YieldsTest : public PartsTest {
 protected:
  ValueId HowOften(ValueId condition) { return store.Counted(tables.NameSymbol("how often"), {&condition, 1}); }

  Containers containers{tables, ir::Language::Python};
  Yields yields{tables};
};

TEST_F(YieldsTest, OneItemOrOneOfSeveral) {
  EXPECT_EQ(yields.ItemValue(), store.NoneValue());
  yields.Note(store.Int(1), store.True(), HowOften(store.True()));
  EXPECT_EQ(yields.ItemValue(), store.Int(1));
  yields.Note(Rank(), store.True(), HowOften(store.True()));
  EXPECT_TRUE(store.axes(yields.ItemValue()).has(Axis::Global));
}

TEST_F(YieldsTest, AsManyOnAllRanksNeedNoNumber) {
  yields.Note(store.Int(1), store.True(), HowOften(store.True()));
  EXPECT_FALSE(yields.Count(containers, {}));
}

TEST_F(YieldsTest, PlacesThatOneRankComesToAreCounted) {
  yields.Note(store.Int(1), store.True(), HowOften(store.True()));
  yields.Note(store.Int(2), RankIs(0), HowOften(RankIs(0)));
  EXPECT_EQ(yields.Count(containers, {}), store.Binary(ir::BinaryOp::Add, store.Int(1), store.Select(RankIs(0), store.Int(1), store.Int(0))));
}

TEST_F(YieldsTest, WithAPlaceInALoopTheNumberIsNotKnown) {
  yields.Note(store.Int(1), {}, {});
  yields.Note(store.Int(2), RankIs(0), HowOften(RankIs(0)));
  const ValueId count = yields.Count(containers, {});
  ASSERT_TRUE(count);
  EXPECT_EQ(store[count].kind, ValueKind::Derived);
  EXPECT_TRUE(store.axes(count).has(Axis::Global));
}

TEST_F(YieldsTest, DataOfARankSaysNothingOfTheNumber) {
  const ValueId condition = OfData();
  yields.Note(store.Int(1), condition, HowOften(condition));
  EXPECT_FALSE(yields.Count(containers, {}));
}

}  // namespace
}  // namespace allranks::variation
