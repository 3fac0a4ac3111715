#include "analyzer/variation/containers.h"

#include "analyzer/variation/parts_test.h"

namespace allranks::variation {
namespace {

class ContainersTest : public PartsTest {
 protected:
  ValueId Some() { return store.Counted(tables.NameSymbol("how often"), {}); }
  ValueId ByRank() {
    const ValueId condition = RankIs(0);
    return store.Counted(tables.NameSymbol("how often"), {&condition, 1});
  }

  Containers containers{tables, ir::Language::Python};
};

TEST_F(ContainersTest, ADisplayWithoutAnItem) {
  const ValueId list = List({store.Int(4), store.Int(5), store.Int(6)});
  EXPECT_EQ(containers.WithoutItem(list, Removal::At, store.Int(-1)), List({store.Int(4), store.Int(5)}));
  EXPECT_EQ(containers.WithoutItem(list, Removal::Item, store.Int(4)), List({store.Int(5), store.Int(6)}));
  EXPECT_EQ(containers.WithoutItem(list, Removal::Last, {}), List({store.Int(4), store.Int(5)}));
  EXPECT_EQ(containers.WithoutItem(list, Removal::All, {}), List({}));
  // Which one it is, or whether there is one, is not known.
  EXPECT_FALSE(containers.WithoutItem(list, Removal::At, Setting()));
  EXPECT_FALSE(containers.WithoutItem(list, Removal::At, store.Int(3)));
  EXPECT_FALSE(containers.WithoutItem(List({Setting(), store.Int(4)}), Removal::Item, store.Int(4)));
}

TEST_F(ContainersTest, ADictionaryWithoutAKey) {
  const ValueId table = Dict({Text("a"), store.Int(1), Text("b"), store.Int(2)});
  EXPECT_EQ(containers.WithoutItem(table, Removal::At, Text("a")), Dict({Text("b"), store.Int(2)}));
  EXPECT_EQ(containers.WithoutItem(table, Removal::At, Text("c")), table);
  EXPECT_FALSE(containers.WithoutItem(table, Removal::At, Setting()));
}

TEST_F(ContainersTest, AChoiceOfDisplaysLosesTheItemInBothArms) {
  const ValueId setting = Setting();
  const ValueId either = store.Select(setting, List({store.Int(1), store.Int(2)}), List({store.Int(3)}));
  EXPECT_EQ(containers.WithoutItem(either, Removal::Last, {}), store.Select(setting, List({store.Int(1)}), List({})));
}

TEST_F(ContainersTest, WithItemReplacesOrAdds) {
  const ValueId table = Dict({Text("a"), store.Int(1)});
  EXPECT_EQ(containers.WithItem(table, {Text("a"), store.Int(2)}), Dict({Text("a"), store.Int(2)}));
  EXPECT_EQ(containers.WithItem(table, {Text("b"), store.Int(2)}), Dict({Text("a"), store.Int(1), Text("b"), store.Int(2)}));
  EXPECT_TRUE(containers.TakesKey(table, Text("b")));
  EXPECT_FALSE(containers.TakesKey(table, store.Int(0)));
  EXPECT_FALSE(containers.TakesKey(Dict({Setting(), store.Int(1)}), Text("b")));
}

TEST_F(ContainersTest, ItemsOfOneOfTwoDictionaries) {
  const ValueId setting = Setting();
  const ValueId either = store.Select(setting, Dict({Text("a"), store.Int(1)}), Dict({Text("a"), store.Int(2), Text("b"), store.Int(3)}));
  EXPECT_FALSE(containers.KnownItems(either));
  const auto items = containers.KnownItems(either, false);
  ASSERT_TRUE(items);
  ASSERT_EQ(items->size(), 2u);
  EXPECT_EQ((*items)[0].value, store.Select(setting, store.Int(1), store.Int(2)));
  EXPECT_EQ((*items)[1].value, store.Select(setting, store.NoneValue(), store.Int(3)));
}

TEST_F(ContainersTest, RanksWithDifferentDictionariesMayLackAKey) {
  const ValueId full = Dict({Text("a"), store.Int(1)});
  EXPECT_EQ(containers.HasKey(store.Select(RankIs(0), full, Dict({})), Text("a")), RankIs(0));
  EXPECT_FALSE(containers.HasKey(store.Select(Setting(), full, Dict({})), Text("a")));
  EXPECT_FALSE(containers.HasKey(store.Select(RankIs(0), full, Setting()), Text("a")));
}

TEST_F(ContainersTest, AnotherKeyThatWasTakenOutSaysNothingOfThisOne) {
  const ValueId before = Setting();
  const ValueId other = containers.Shrunk({before, Text("b"), Some()});
  EXPECT_EQ(containers.WithKey(other, Text("a"), false), before);
  const ValueId same = containers.Shrunk({before, Text("a"), Some()});
  EXPECT_EQ(containers.WithKey(same, Text("a"), false), same);
  // Only those get it that have it.
  EXPECT_EQ(containers.WithKey(same, Text("a"), true), before);
}

TEST_F(ContainersTest, WhatGrewOnOneRankHasItemsThere) {
  const ValueId grown = containers.Grown({List({}), Setting(), ByRank()}, {});
  EXPECT_TRUE(containers.IsContainer(grown));
  EXPECT_TRUE(store.axes(containers.HasItems(grown)).has(Axis::Global));
  // It had one before.
  EXPECT_EQ(containers.HasItems(containers.Grown({List({Setting()}), Setting(), ByRank()}, {})), store.True());
  // An empty display says nothing by itself.
  EXPECT_EQ(containers.HasItems(List({})), List({}));
}

TEST_F(ContainersTest, TheSameChangeIsFoundAgain) {
  const ValueId item = Setting();
  const ValueId often = Some();
  const ValueId grown = containers.Grown({List({}), item, often}, {});
  const ValueId shrunk = containers.Shrunk({grown, Setting(), often});
  EXPECT_EQ(containers.ChangedBy(shrunk, kGrown, item, often), grown);
  EXPECT_FALSE(containers.ChangedBy(shrunk, kShrunk, item, often));
}

TEST_F(ContainersTest, ARefilledContainerIsTheOneItWas) {
  const ValueId list = List({store.Int(0), store.Int(0)});
  const ValueId refilled = containers.Refilled(list, Rank(), Axes::Of(Axis::Global));
  EXPECT_EQ(containers.Itself(refilled), list);
  EXPECT_TRUE(store.axes(refilled).has(Axis::Global));
}

TEST_F(ContainersTest, ViewsOfDictionaries) {
  const ValueId table = Dict({Text("a"), store.Int(1), Text("b"), store.Int(2)});
  EXPECT_EQ(containers.PartsOf(table, "keys"), List({Text("a"), Text("b")}));
  EXPECT_EQ(containers.PartsOf(table, "values"), List({store.Int(1), store.Int(2)}));
  EXPECT_FALSE(containers.PartsOf(Dict({store.NoneValue(), Setting()}), "keys"));
  const ValueId pair = List({Text("a"), store.Int(1)});
  const ValueId made = Derived(kComprehended, {pair, store.Int(3)});
  EXPECT_EQ(containers.ViewedPart("values", made), store.Int(1));
  EXPECT_EQ(containers.ViewedPart("items", made), pair);
}

TEST_F(ContainersTest, AVectorOfOneItemIsNoPythonProduct) {
  const ValueId repeated = store.Binary(ir::BinaryOp::Mul, List({store.Int(0)}), Setting());
  EXPECT_FALSE(containers.IsContainer(repeated));
  EXPECT_TRUE(Containers(tables, ir::Language::Cpp).IsContainer(repeated));
}

}  // namespace
}  // namespace allranks::variation
