#include "analyzer/variation/library_results.h"

#include "analyzer/variation/library_groups.h"
#include "analyzer/variation/parts_test.h"
#include "analyzer/variation/whole_job.h"

namespace allranks::variation {
namespace {

using knowledge::Yield;
using knowledge::YieldKind;

class LibraryResultsTest : public PartsTest {
 protected:
  LibraryResultsTest() { entry.name = names.Intern("library.function"); }

  LibraryCall Call(std::span<const ValueId> by_param, ValueId receiver = {}) {
    args.clear();
    for (const ValueId value : by_param) args.push_back({.kind = ir::ArgKind::Positional, .keyword = {}, .expr = {}, .value = value});
    return {.site = site, .entry = entry, .by_param = by_param, .receiver = receiver, .args = args, .around = {}};
  }

  uint32_t site = store.NewSymbol();
  knowledge::Entry entry;
  std::vector<CallArgument> args;
  Containers containers{tables, ir::Language::Python};
  LibraryResults results{tables, containers};
};

TEST_F(LibraryResultsTest, OfWhichNothingIsSaidVariesAsWhatGoesIn) {
  const ValueId given[] = {Rank()};
  const ValueId result = results.Of(Call(given), {});
  EXPECT_EQ(store[result].kind, ValueKind::Derived);
  EXPECT_EQ(result, results.Of(Call(given), {}));
}

TEST_F(LibraryResultsTest, WhatVariesDoesSoByItself) {
  const ValueId result = results.Of(Call({}), {.kind = YieldKind::Varies, .axes = Axes::Of(Axis::Data)});
  EXPECT_TRUE(store.axes(result).has(Axis::Data));
  EXPECT_TRUE(store.axes(results.Of(Call({}), {.kind = YieldKind::Uniform})).empty());
}

TEST_F(LibraryResultsTest, AnArgumentIsHandedThrough) {
  entry.params = {names.Intern("first"), names.Intern("second")};
  const ValueId given[] = {Rank(), store.Int(2)};
  Yield yield{.kind = YieldKind::Argument};
  yield.argument = names.Intern("second");
  EXPECT_EQ(results.Of(Call(given), yield), store.Int(2));
  yield.argument = names.Intern("self");
  EXPECT_EQ(results.Of(Call(given, Rank()), yield), Rank());
}

TEST_F(LibraryResultsTest, AGroupOfListedRanksIsNotThatOfAll) {
  entry.params = {names.Intern("ranks")};
  Yield yield{.kind = YieldKind::NewGroup};
  yield.argument = entry.params[0];
  const ValueId given[] = {List({store.Int(0), store.Int(1)})};
  const ValueId group = results.Of(Call(given), yield);
  ASSERT_TRUE(store[group].is_group(GroupKind::Created));
  EXPECT_EQ(store.RanksOf(group), given[0]);
  const ValueId nothing[] = {store.NoneValue()};
  const ValueId of_all = results.Of(Call(nothing), yield);
  EXPECT_TRUE(IsOfAllRanks(store, of_all));
  EXPECT_NE(of_all, store.World());
  yield.argument = {};
  EXPECT_EQ(results.Of(Call({}), yield), store.World());
}

TEST_F(LibraryResultsTest, WhicheverGroupOfAllRanksASettingChoosesHasAllRanks) {
  const ValueId another = store.Make(Value::Group(GroupKind::World, site), {});
  EXPECT_TRUE(IsOfAllRanks(store, store.Select(Setting(), another, store.NoneValue())));
  EXPECT_FALSE(IsOfAllRanks(store, store.Select(Rank(), another, store.World())));
  EXPECT_FALSE(IsOfAllRanks(store, store.Select(Setting(), another, store.AxisGroup(Axis::TensorParallel))));
}

TEST_F(LibraryResultsTest, AGroupInALoopIsOneOfAFamily) {
  entry.params = {names.Intern("ranks")};
  Yield yield{.kind = YieldKind::NewGroup};
  yield.argument = entry.params[0];
  const ValueId ranks = Setting();
  const ValueId lists = Setting();
  const LoopVariable loop[] = {{.variable = ranks, .sequence = lists}};
  const ValueId given[] = {ranks};
  LibraryCall call = Call(given);
  call.around = loop;
  EXPECT_EQ(store.ListsOfGroups(results.Of(call, yield)), lists);
}

TEST_F(LibraryResultsTest, ASplitIsByTheColourThatIsPassed) {
  entry.params = {names.Intern("color")};
  Yield yield{.kind = YieldKind::SplitGroup};
  yield.argument = entry.params[0];
  const ValueId given[] = {store.Binary(ir::BinaryOp::Mod, Rank(), store.Int(2))};
  const ValueId group = results.Of(Call(given), yield);
  ASSERT_TRUE(store[group].is_group(GroupKind::Split));
  EXPECT_EQ(store.SplitOf(group).parent, store.World());
  EXPECT_EQ(store.SplitOf(group).color, given[0]);
}

TEST_F(LibraryResultsTest, ACollectiveMakesEqualAlongItsGroupOnly) {
  EXPECT_EQ(SpannedBy(store, store.World()), kAllAxes);
  const Axes along = SpannedBy(store, store.AxisGroup(Axis::TensorParallel));
  EXPECT_TRUE(along.has(Axis::TensorParallel));
  EXPECT_FALSE(along.has(Axis::DataParallel));
}

}  // namespace
}  // namespace allranks::variation
