#include "analyzer/traces/trace.h"

#include <gtest/gtest.h>

#include "analyzer/traces/difference.h"
#include "analyzer/traces/nodes.h"
#include "analyzer/traces/test_program.h"

namespace allranks::traces {
namespace {

class TraceTest : public TracesTest {};

TEST_F(TraceTest, EqualTracesHaveEqualIds) {
  EXPECT_EQ(traces().Seq(Barrier(1), Barrier(2)), traces().Seq(Barrier(1), Barrier(2)));
  EXPECT_NE(Barrier(1), Barrier(2)) << "a trace knows its places";
}

TEST_F(TraceTest, WhatSaysNothingIsNothing) {
  const TraceId nothing = traces().Empty();
  EXPECT_EQ(traces().Choice(At(1), RankIs(0), nothing, nothing), nothing);
  EXPECT_EQ(traces().Loop(At(1), values().Int(3), nothing), nothing);
  EXPECT_EQ(traces().Scope(At(1), FuncId{0}, Return(1)), nothing) << "a callee's return ends with it";
  EXPECT_EQ(traces().Loop(At(1), values().Int(3), traces().Exit(At(2), ExitKind::Break)), nothing);
}

TEST_F(TraceTest, NothingFollowsAnExit) { EXPECT_EQ(traces().Seq(Return(1), Barrier(2)), Return(1)); }

TEST_F(TraceTest, AModeOfWhatIsNotKnownIsLeftOut) {
  const ValueId both[] = {values().Fresh({}), values().True()};
  const TraceId mode = traces().Mode(At(1), both[0], both[1], false);
  EXPECT_EQ(traces().Rebuild(mode, values().Fresh({}), {}, false), traces().Empty());
}

TEST_F(TraceTest, AModeNestedDeeplyIsAModeOfItsModule) {
  ValueId deep = values().Fresh({});
  for (int i = 0; i < 100; ++i) deep = values().Tuple({&deep, 1});
  const ValueId module = values().Fresh({});
  const TraceId mode = traces().Mode(At(1), module, deep, false);
  ASSERT_EQ(values().Kids(traces()[mode].value).size(), 2u);
  EXPECT_EQ(values().Kids(traces()[mode].value)[0], module);
}

TEST_F(TraceTest, SequencesAreFlat) {
  const TraceId inner = traces().Seq(Barrier(1), Barrier(2));
  EXPECT_EQ(traces().Kids(traces().Seq(inner, Barrier(3))).size(), 3u);
}

TEST_F(TraceTest, ChoiceOnAKnownConditionIsItsArm) {
  EXPECT_EQ(traces().Choice(At(1), values().True(), Barrier(2), traces().Empty()), Barrier(2));
}

TEST_F(TraceTest, ARaiseThatAllRanksMeetIsLeftOut) {
  const TraceId raise = traces().Exit(At(1), ExitKind::Raise);
  EXPECT_EQ(traces().Choice(At(1), values().Fresh({}), raise, Barrier(2)), Barrier(2));
  EXPECT_NE(traces().Choice(At(1), RankIs(0), raise, Barrier(2)), Barrier(2));
}

TEST_F(TraceTest, AFunctionThatOnlyCallsItselfIssuesNothing) {
  const TraceId again = traces().Rec(At(1), FuncId{0});
  EXPECT_EQ(traces().Scope(At(2), FuncId{0}, again), traces().Empty());
  EXPECT_NE(traces().Scope(At(2), FuncId{0}, traces().Seq(again, Barrier(3))), traces().Empty());
}

TEST_F(TraceTest, FlagsSayWhatLeadsOut) {
  const TraceId stop = traces().Exit(At(1), ExitKind::Break);
  const TraceId body = traces().Seq(Barrier(2), traces().Choice(At(3), RankIs(0), stop, traces().Empty()));
  EXPECT_NE(traces()[body].flags & kLeavesBreak, 0);
  EXPECT_EQ(traces()[traces().Loop(At(4), values().Int(2), body)].flags & kLeavesBreak, 0);
}

TEST_F(TraceTest, InstantiatingReplacesParametersAndTakesTheArmThatIsKnownThen) {
  const ValueId flag = values().Param(FuncId{0}, 0);
  const TraceId trace = traces().Choice(At(1), flag, Barrier(2), traces().Empty());
  const Binding rank_zero{.func = FuncId{0}, .args = {RankIs(0)}, .around = {}};
  EXPECT_EQ(Instantiate(state(), trace, rank_zero), traces().Choice(At(1), RankIs(0), Barrier(2), traces().Empty()));
  const Binding always{.func = FuncId{0}, .args = {values().True()}, .around = {}};
  EXPECT_EQ(Instantiate(state(), trace, always), Barrier(2));
}

TEST_F(TraceTest, SettledChoicesDoNotVary) {
  const TraceId trace = traces().Choice(At(1), RankIs(0), Barrier(2), traces().Empty());
  EXPECT_NE(traces()[trace].flags & kVarying, 0);
  EXPECT_EQ(traces()[Settle(state(), trace, {trace.index}, false)].flags & kVarying, 0);
}

TEST_F(TraceTest, AContextManagerIsCutAtItsYield) {
  const TraceId yield = traces().Yield(At(3));
  const TraceId parts[] = {Barrier(1), yield, Barrier(5)};
  const SplitTrace split = SplitAtYield(traces(), traces().Seq(parts));
  EXPECT_EQ(split.before, Barrier(1));
  EXPECT_EQ(split.after, Barrier(5));
}

TEST_F(TraceTest, AnEarlyYieldAndReturnGoesOnInTheOtherArm) {
  const ValueId off = values().Fresh({});
  const TraceId early = traces().Seq(traces().Yield(At(2)), Return(2));
  const TraceId parts[] = {traces().Choice(At(1), off, early, traces().Empty()), Barrier(3), traces().Yield(At(4)),
                           Barrier(5)};
  const SplitTrace split = SplitAtYield(traces(), traces().Seq(parts));
  EXPECT_EQ(split.before, traces().Choice(At(1), off, traces().Empty(), Barrier(3)));
  EXPECT_EQ(split.after, traces().Choice(At(1), off, Return(2), Barrier(5)));
}

TEST_F(TraceTest, ALoopOverAGeneratorRunsItsBodyAtEachYield) {
  const TraceId leave = If(1, RankIs(0), traces().Exit(At(2), ExitKind::Break));
  const TraceId generator = traces().Loop(At(3), values().Int(3), traces().Seq(Barrier(4), traces().Yield(At(5))));
  const TraceId round = traces().Loop(At(5), values().Int(1), If(1, RankIs(0), Return(2)));
  const TraceId both = traces().Loop(At(3), values().Int(3), traces().Seq(Barrier(4), round));
  EXPECT_EQ(TakingTurns(traces(), generator, leave, values().Int(1)), both) << "who leaves the loop ends the generator";
}

TEST_F(TraceTest, AGeneratorThatIssuesNothingIsNoMatterForTheLoop) {
  const TraceId quiet = traces().Loop(At(3), values().Int(3), traces().Yield(At(5)));
  EXPECT_FALSE(TakingTurns(traces(), quiet, Barrier(1), values().Int(1)).has_value());
  const TraceId issues = traces().Seq(Barrier(4), traces().Yield(At(5)));
  EXPECT_FALSE(TakingTurns(traces(), issues, Return(1), values().Int(1)).has_value()) << "a return ends the function around as well";
}

TEST_F(TraceTest, FirstExitSkipsRaises) {
  const TraceId raise = traces().Exit(At(1), ExitKind::Raise);
  const TraceId arm = traces().Choice(At(1), RankIs(0), raise, Return(2));
  EXPECT_EQ(FirstExit(traces(), arm), Return(2));
  EXPECT_FALSE(FirstExit(traces(), raise).has_value());
}

class CallsTest : public TracesTest {
 protected:
  static constexpr FuncId kCaller{0};
  static constexpr FuncId kCallee{1};

  void SetUp() override {
    TracesTest::SetUp();
    state().is_relevant = {true, true};
    state().cycle = {7, 7};
    state().trace_of[kCallee.index] = Barrier(1);
  }

  TraceKind Called() { return traces()[CallTrace(state(), At(2), kCallee, {}, {})].kind; }
};

TEST_F(CallsTest, ACircleIsFollowedThroughSixteenCalls) {
  state().BeginTraces(kCaller);
  state().depth_in_cycle[kCallee.index] = State::kDeepestInCycle - 1;
  EXPECT_EQ(Called(), TraceKind::Scope);
  EXPECT_EQ(state().depth_in_cycle[kCaller.index], State::kDeepestInCycle);
  EXPECT_EQ(state().not_followed, "");
  state().depth_in_cycle[kCallee.index] = State::kDeepestInCycle;
  EXPECT_EQ(Called(), TraceKind::Opaque);
  EXPECT_EQ(state().not_followed, "recursion through more than 16 functions");
}

TEST_F(CallsTest, WhatIsInNoCircleWithTheCallerHasNoSuchBound) {
  state().BeginTraces(kCaller);
  state().depth_in_cycle[kCallee.index] = State::kDeepestInCycle;
  for (const std::vector<uint32_t>& apart : {std::vector<uint32_t>{7, 8}, {0, 7}, {0, 0}}) {
    state().cycle = apart;
    EXPECT_EQ(Called(), TraceKind::Scope);
  }
  EXPECT_EQ(state().depth_in_cycle[kCaller.index], 0u);
}

TEST_F(CallsTest, CallsOfAFileAddUpToABound) {
  state().traces_of_file[0] = State::kMostTracesOfFile;
  state().BeginTraces(kCaller);
  EXPECT_EQ(Called(), TraceKind::Scope) << "functions of the file add to it";
  state().traces_of_file[0] += 10 * State::kMostTracesOfFileByFunction;
  state().BeginTraces(kCaller);
  while (traces().size() <= state().most_traces) Barrier(static_cast<uint32_t>(100 + traces().size()));
  EXPECT_EQ(Called(), TraceKind::Opaque);
  EXPECT_EQ(state().not_followed, "calls with too many operations for one file");
}

}  // namespace
}  // namespace allranks::traces
