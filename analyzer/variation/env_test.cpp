#include "analyzer/variation/env.h"

#include "analyzer/variation/parts_test.h"

namespace allranks::variation {
namespace {

class EnvTest : public PartsTest {
 protected:
  Env With(std::vector<ValueId> slots, Heap heap = {}) {
    Env env;
    env.slots = std::move(slots);
    env.heap = std::move(heap);
    return env;
  }
  Env Either(ValueId condition, Env then_env, Env else_env) {
    return EitherOf(store, condition, std::move(then_env), std::move(else_env),
                    {.joined = [&](ValueId test, ValueId a, ValueId b) { return store.Select(test, a, b); },
                     .as_passed = [&](uint32_t param) { return store.Param(FuncId{0}, param); }});
  }
  NameId Attr(std::string_view name) { return names.Intern(name); }
};

TEST_F(EnvTest, AVariableBehindTwoArmsIsAChoice) {
  const Env either = Either(RankIs(0), With({store.Int(1), store.Int(5)}), With({store.Int(2), store.Int(5)}));
  EXPECT_EQ(either.slots[0], store.Select(RankIs(0), store.Int(1), store.Int(2)));
  EXPECT_EQ(either.slots[1], store.Int(5));
}

TEST_F(EnvTest, AssignedInOneArmItVariesAsTheCondition) {
  const ValueId value = Setting();
  const Env either = Either(RankIs(0), With({value}), With({ValueId()}));
  EXPECT_TRUE(store.axes(either.slots[0]).has(Axis::Global));
}

TEST_F(EnvTest, AttributesOfBothArmsAreKept) {
  const ValueId object = Setting();
  const ValueId other = Setting();
  const Env either = Either(RankIs(0), With({}, {{object, Attr("x"), store.Int(1)}, {other, Attr("x"), store.Int(3)}}),
                            With({}, {{object, Attr("x"), store.Int(2)}}));
  ASSERT_NE(FindStored(either.heap, object, Attr("x")), nullptr);
  EXPECT_EQ(*FindStored(either.heap, object, Attr("x")), store.Select(RankIs(0), store.Int(1), store.Int(2)));
  EXPECT_EQ(FindStored(either.heap, other, Attr("x")), nullptr);
}

TEST_F(EnvTest, WhatAnObjectWasMadeWithHoldsInTheArmThatDoesNotStore) {
  const ValueId items[] = {Text("x"), store.Int(7)};
  const ValueId object = store.Make(Value::Dict(DictKind::Attributes, store.NewSymbol()), items);
  const Env stored = With({}, {{object, Attr("x"), store.Int(1)}});
  EXPECT_EQ(*FindStored(Either(RankIs(0), stored, With({})).heap, object, Attr("x")), store.Select(RankIs(0), store.Int(1), store.Int(7)));
  EXPECT_EQ(*FindStored(Either(RankIs(0), With({}), stored).heap, object, Attr("x")), store.Select(RankIs(0), store.Int(7), store.Int(1)));
}

TEST_F(EnvTest, WhatARoundStoresIsNotKnownInTheNext) {
  const ValueId object = Setting();
  Heap before = {{object, Attr("x"), store.Int(1)}, {object, Attr("y"), store.Int(2)}};
  EXPECT_TRUE(ForgetStoredInRound(before, {{object, Attr("x"), store.Int(9)}, {object, Attr("y"), store.Int(2)}}));
  EXPECT_EQ(FindStored(before, object, Attr("x")), nullptr);
  EXPECT_NE(FindStored(before, object, Attr("y")), nullptr);
  EXPECT_FALSE(ForgetStoredInRound(before, before));
}

TEST_F(EnvTest, ALoopWithoutARoundLeavesWhatWas) {
  const ValueId object = Setting();
  const ValueId ran = store.Fresh({});
  const Env before = With({}, {{object, Attr("x"), store.Int(1)}});
  Env after = With({}, {{object, Attr("x"), store.Int(2)}});
  MergeLoop(store, after, before, before.heap, ran);
  EXPECT_EQ(*FindStored(after.heap, object, Attr("x")), store.Select(ran, store.Int(2), store.Int(1)));
}

}  // namespace
}  // namespace allranks::variation
