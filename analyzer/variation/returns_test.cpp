#include "analyzer/variation/returns.h"

#include "analyzer/variation/parts_test.h"

namespace allranks::variation {
namespace {

class ReturnsTest : public PartsTest {
 protected:
  void Note(ValueId condition, ValueId value, Effects effects = {}) { returns.Note(condition, value, {ValueId()}, std::move(effects)); }

  Returns returns{tables};
};

TEST_F(ReturnsTest, WithoutAReturnItIsWhatTheEndGives) {
  EXPECT_EQ(returns.Value(store.NoneValue(), {}), store.NoneValue());
  EXPECT_FALSE(returns.Value({}, {}));
}

TEST_F(ReturnsTest, TheFirstOneThatIsReachedCounts) {
  const ValueId setting = Setting();
  Note(RankIs(0), store.Int(1));
  Note(setting, store.Int(2));
  const ValueId rest = store.Select(setting, store.Int(2), store.NoneValue());
  EXPECT_EQ(returns.Value(store.NoneValue(), {}), store.Select(RankIs(0), store.Int(1), rest));
  // The end is not reached: where the first was not, the last one was.
  EXPECT_EQ(returns.Value({}, {}), store.Select(RankIs(0), store.Int(1), store.Int(2)));
}

TEST_F(ReturnsTest, WhatFailedWasNotReturned) {
  const ValueId failed = store.Fresh({});
  Note(store.True(), store.Int(1));
  returns.Unless(failed, 0, 1);
  EXPECT_EQ(returns.Value(store.Int(2), {}), store.Select(store.Not(failed), store.Int(1), store.Int(2)));
}

TEST_F(ReturnsTest, WhatAParameterHolds) {
  const ValueId passed = store.Param(FuncId{0}, 0);
  returns.Note(RankIs(0), store.NoneValue(), {store.Int(5)}, {});
  EXPECT_TRUE(returns.IsStoredIn(0));
  EXPECT_EQ(returns.Held(0, passed, passed, {}), store.Select(RankIs(0), store.Int(5), passed));
}

TEST_F(ReturnsTest, EffectsOfEachWay) {
  const Effect effect{.object = Setting(), .attr = names.Intern("x"), .value = store.Int(1), .when = {}};
  Note(RankIs(0), store.NoneValue(), {effect});
  const Effects at_end;
  const Effects left = returns.LeftBehind(&at_end);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].when, RankIs(0));
  EXPECT_EQ(returns.LeftBehind(nullptr), Effects{effect});
}

}  // namespace
}  // namespace allranks::variation
