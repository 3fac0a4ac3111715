#include "analyzer/traces/conditions.h"

#include <gtest/gtest.h>

namespace allranks::traces {
namespace {

using knowledge::Axes;
using knowledge::Axis;
using knowledge::Coordinate;

class ConditionsTest : public ::testing::Test {
 protected:
  ValueId Equals(ValueId left, int64_t right) { return values_.Compare(ir::CompareOp::Eq, left, values_.Int(right)); }
  ValueId Data() { return values_.Fresh(Axes::Of(Axis::Data)); }
  ValueId IsNone(ValueId value) { return values_.Compare(ir::CompareOp::Is, value, values_.NoneValue()); }
  ValueId CreatedGroup(uint32_t symbol) {
    const variation::Value group = variation::Value::Group(variation::GroupKind::Created, symbol);
    return values_.Make(group, {});
  }

  variation::ValueStore values_;
  ValueId rank_ = values_.Coordinate(Coordinate::Rank);
};

TEST_F(ConditionsTest, OneRankIsSingledOutByItsNumberInTheJobOrInTheVeryGroup) {
  const ValueId group = CreatedGroup(1);
  const ValueId first_of_group = Equals(values_.Coordinate(Coordinate::GroupRank, {}, group), 0);
  EXPECT_TRUE(SinglesOutRank(values_, Equals(rank_, 0), group));
  EXPECT_TRUE(SinglesOutRank(values_, values_.Not(Equals(rank_, 0)), group));
  EXPECT_TRUE(SinglesOutRank(values_, first_of_group, group));
  EXPECT_FALSE(SinglesOutRank(values_, first_of_group, CreatedGroup(2)));
  EXPECT_FALSE(SinglesOutRank(values_, Equals(values_.Coordinate(Coordinate::LocalRank), 0), group));
  const ValueId every_eighth = Equals(values_.Binary(ir::BinaryOp::Mod, rank_, values_.Int(8)), 0);
  EXPECT_FALSE(SinglesOutRank(values_, every_eighth, group));
}

TEST_F(ConditionsTest, NowTheJobAndNowAPartOfItIsNoOneGroup) {
  const ValueId setting = values_.Fresh({});
  const ValueId own = values_.Select(setting, CreatedGroup(1), CreatedGroup(2));
  const ValueId either = values_.Select(setting, CreatedGroup(1), values_.World());
  EXPECT_TRUE(SinglesOutRank(values_, Equals(rank_, 0), own));
  EXPECT_FALSE(SinglesOutRank(values_, Equals(rank_, 0), either));
}

TEST_F(ConditionsTest, PresenceIsNotContent) {
  const ValueId batch = Data();
  EXPECT_TRUE(VariesByPresence(values_, IsNone(batch)));
  EXPECT_TRUE(VariesByPresence(values_, values_.Not(IsNone(batch))));
  EXPECT_FALSE(VariesByPresence(values_, Equals(batch, 0)));
  const ValueId both[] = {IsNone(batch), Equals(batch, 0)};
  EXPECT_FALSE(VariesByPresence(values_, values_.And(both)));
  // None because the content said so.
  EXPECT_FALSE(VariesByPresence(values_, IsNone(values_.Select(Equals(batch, 0), batch, values_.NoneValue()))));
}

TEST_F(ConditionsTest, APartOfABatchMayBeMissingAndWhatIsComputedFromItIsNot) {
  base::Interner names;
  const knowledge::Knowledge knowledge(names);
  const uint32_t item = values_.NewSymbol();
  values_.SetOperation(item, names.Intern("[]"));
  const ValueId batch = Data();
  const ValueId key = values_.Str(names.Intern("image"));
  const ValueId parts[] = {batch, key};
  const ValueId image = values_.Derived(item, parts);
  const ValueId setting = values_.Fresh({});
  const auto asks = [&](ValueId condition) { return AsksForPartOfBatch(values_, knowledge, condition); };
  EXPECT_TRUE(asks(IsNone(image)));
  EXPECT_TRUE(asks(values_.Not(IsNone(image))));
  EXPECT_TRUE(asks(values_.Compare(ir::CompareOp::In, key, batch)));
  const ValueId both[] = {setting, IsNone(image)};
  EXPECT_TRUE(asks(values_.And(both)));
  EXPECT_FALSE(asks(IsNone(batch)));
  EXPECT_FALSE(asks(IsNone(values_.Derived(values_.NewSymbol(), {&image, 1}))));
  EXPECT_FALSE(asks(IsNone(setting)));
  EXPECT_FALSE(asks(Equals(image, 0)));
}

TEST_F(ConditionsTest, WhatUnseenFunctionsMakeOfARankIsHearsay) {
  const uint32_t slice = values_.NewSymbol();
  values_.SetStructural(slice);
  const ValueId part = values_.Derived(slice, {&rank_, 1});
  const ValueId made = values_.Derived(values_.NewSymbol(), {&rank_, 1});
  EXPECT_TRUE(IsMadeOfRanks(values_, Equals(rank_, 0)));
  EXPECT_TRUE(IsMadeOfRanks(values_, part));
  EXPECT_FALSE(IsMadeOfRanks(values_, made));
  const ValueId things = values_.Select(Equals(rank_, 0), values_.Fresh({}), values_.Fresh({}));
  EXPECT_FALSE(IsMadeOfRanks(values_, things));
}

TEST_F(ConditionsTest, SettingsBesideARankAreSeen) {
  const ValueId first = Equals(rank_, 0);
  const ValueId with_setting[] = {values_.Fresh({}), first};
  EXPECT_FALSE(HangsOnSettings(values_, values_.Not(first)));
  EXPECT_TRUE(HangsOnSettings(values_, values_.And(with_setting)));
  EXPECT_TRUE(HangsOnSettings(values_, values_.Select(values_.Fresh({}), first, values_.True())));
}

TEST_F(ConditionsTest, WhatObjectsKeepAndWhatTheyAre) {
  const ValueId kept = values_.Symbol(values_.NewSymbol(), {}, variation::kOfSomeObject);
  EXPECT_TRUE(IsOfSomeObject(values_, values_.Not(values_.Select(kept, Data(), values_.NoneValue()))));
  EXPECT_FALSE(IsOfSomeObject(values_, IsNone(Data())));
  const uint32_t is_instance = values_.NewSymbol();
  values_.SetUniform(is_instance);
  const ValueId batch = Data();
  EXPECT_TRUE(AsksForClass(values_, values_.Not(values_.Derived(is_instance, {&batch, 1}))));
  EXPECT_FALSE(AsksForClass(values_, IsNone(batch)));
}

}  // namespace
}  // namespace allranks::traces
