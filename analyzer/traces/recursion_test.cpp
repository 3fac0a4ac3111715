#include "analyzer/traces/recursion.h"

#include <gtest/gtest.h>

#include "analyzer/traces/test_program.h"

namespace allranks::traces {
namespace {

class RecursionTest : public TracesTest {
 protected:
  static constexpr FuncId kCaller{0};
  static constexpr FuncId kWalk{1};

  void SetUp() override {
    TracesTest::SetUp();
    state().is_relevant = {true, true};
    state().cycle = {0, 0};
    state().BeginTraces(kCaller);
  }

  ValueId Left() { return values().Param(kWalk, 0); }
  ValueId OneLess() { return values().Binary(ir::BinaryOp::Sub, Left(), values().Int(1)); }
  ValueId IsLeft() { return values().Compare(ir::CompareOp::Greater, Left(), values().Int(0)); }

  // def walk(left): barrier(); if CONDITION: walk(NEXT)
  void DefineWalk(ValueId condition, ValueId next) {
    const TraceId again = traces().Rec(At(3), kWalk, values().Tuple({&next, 1}));
    state().trace_of[kWalk.index] = WithDecidingArguments(state(), kWalk, traces().Seq(Barrier(1), If(2, condition, again)));
  }

  TraceId Called(ValueId left) { return CallTrace(state(), At(4), kWalk, {}, {&left, 1}); }

  size_t CountOf(TraceId id, TraceKind kind) {
    size_t count = traces()[id].kind == kind ? 1 : 0;
    for (const TraceId kid : traces().Kids(id)) count += CountOf(kid, kind);
    return count;
  }
};

TEST_F(RecursionTest, ItEndsWhereTheArgumentsSaySo) {
  DefineWalk(IsLeft(), OneLess());
  const TraceId trace = Called(values().Int(3));
  EXPECT_EQ(CountOf(trace, TraceKind::Scope), 4u);
  EXPECT_EQ(CountOf(trace, TraceKind::Rec), 0u);
}

TEST_F(RecursionTest, WhatRanksSayIsFollowedToABound) {
  DefineWalk(IsLeft(), OneLess());
  const TraceId trace = Called(Rank());
  EXPECT_EQ(CountOf(trace, TraceKind::Scope), 33u);
  EXPECT_EQ(CountOf(trace, TraceKind::Rec), 1u);
  EXPECT_EQ(state().cut_recursion.size(), 1u);
}

TEST_F(RecursionTest, ACallThatIsToldTheSameIsEqualToTheOneAroundIt) {
  DefineWalk(Left(), values().True());
  const TraceId trace = Called(RankIs(0));
  EXPECT_EQ(CountOf(trace, TraceKind::Scope), 2u);
  EXPECT_EQ(CountOf(trace, TraceKind::Rec), 1u);
  EXPECT_TRUE(state().cut_recursion.empty());
}

TEST_F(RecursionTest, WhatDecidesNothingIsNotFollowed) {
  DefineWalk(RankIs(0), OneLess());
  EXPECT_EQ(CountOf(Called(values().Int(3)), TraceKind::Scope), 1u);
}

TEST_F(RecursionTest, WhatIsHandedOnAsItIsIsNotFollowed) {
  DefineWalk(IsLeft(), Left());
  EXPECT_EQ(CountOf(Called(values().Int(3)), TraceKind::Scope), 1u);
}

TEST_F(RecursionTest, NothingIsFollowedThatIsNotTold) {
  DefineWalk(IsLeft(), OneLess());
  EXPECT_EQ(CountOf(Called(values().Fresh({})), TraceKind::Scope), 1u);
}

// Each call makes two others: what is told alike is looked at once, and there is a bound on all.
TEST_F(RecursionTest, TwoCallsInEachAreBounded) {
  const ValueId less = OneLess();
  const ValueId half = values().Binary(ir::BinaryOp::FloorDiv, Left(), values().Int(2));
  const TraceId both = traces().Seq(traces().Rec(At(3), kWalk, values().Tuple({&less, 1})), traces().Rec(At(5), kWalk, values().Tuple({&half, 1})));
  state().trace_of[kWalk.index] = traces().Seq(Barrier(1), If(2, IsLeft(), both));
  const size_t before = traces().size();
  Called(Rank());
  EXPECT_LT(traces().size() - before, 2'000u);
  EXPECT_FALSE(state().cut_recursion.empty());
}

}  // namespace
}  // namespace allranks::traces
