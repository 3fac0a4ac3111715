#include "analyzer/traces/project.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/traces/reach.h"
#include "analyzer/traces/test_program.h"

namespace allranks::traces {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class ProjectTest : public TracesTest {
 protected:
  SeqId On(uint32_t rank, TraceId trace) { return Own(rank, trace, {}); }
  SeqId Own(uint32_t rank, TraceId trace, knowledge::Axes axes) {
    if (!scene_) scene_ = std::make_unique<Scene>(state(), World{.nodes = 2, .per_node = 2, .mesh = {}}, Assignment{});
    Projector projector(state(), *scene_, sequences, {.rank = rank}, settled, axes);
    const SeqId list = projector.Run(trace);
    own = projector.own_decisions();
    return list;
  }
  bool Agree(TraceId trace, uint32_t i, uint32_t j) { return sequences.Same(On(i, trace), On(j, trace)); }
  TraceId Seq(std::initializer_list<TraceId> parts) { return traces().Seq(std::vector<TraceId>(parts)); }
  ValueId NotFirst(ValueId rank) {
    const ValueId items[] = {values().Int(-1), values().Int(0)};
    return values().Compare(ir::CompareOp::NotIn, rank, values().Tuple(items));
  }

  SequenceStore sequences;
  std::unordered_set<uint32_t> settled;
  std::vector<OwnDecision> own;

 private:
  std::unique_ptr<Scene> scene_;
};

constexpr knowledge::Axes kData = knowledge::Axes::Of(Axis::Data);

TEST_F(ProjectTest, GuardedOperationIsThereForSomeRanks) {
  const TraceId trace = If(1, RankIs(0), Barrier(2));
  EXPECT_NE(On(0, trace), kNothing);
  EXPECT_EQ(On(1, trace), kNothing);
}

TEST_F(ProjectTest, BarrierSandwichAgrees) {
  const ValueId local_rank = values().Coordinate(knowledge::Coordinate::LocalRank);
  const TraceId trace = Seq({If(1, NotFirst(local_rank), Barrier(2)), If(3, LocalRankIs(0), Barrier(4))});
  for (uint32_t rank = 1; rank < 4; ++rank) EXPECT_TRUE(Agree(trace, 0, rank)) << rank;
}

TEST_F(ProjectTest, SandwichOfTwoKindsOfRankBreaksOnTheSecondNode) {
  const TraceId trace = Seq({If(1, NotFirst(Rank()), Barrier(2)), If(3, LocalRankIs(0), Barrier(4))});
  EXPECT_TRUE(Agree(trace, 0, 1));
  EXPECT_FALSE(Agree(trace, 0, 2));
  EXPECT_TRUE(Agree(trace, 1, 3));
}

TEST_F(ProjectTest, SameOperationInBothArmsAgrees) {
  EXPECT_TRUE(Agree(If(1, RankIs(0), Broadcast(2, values().Int(0)), Broadcast(3, values().Int(0))), 0, 1));
  EXPECT_FALSE(Agree(If(1, RankIs(0), Broadcast(2, values().Int(0)), Broadcast(3, values().Int(1))), 0, 1));
}

TEST_F(ProjectTest, RootThatIsTheRankDiffers) { EXPECT_FALSE(Agree(Broadcast(1, Rank()), 0, 1)); }

TEST_F(ProjectTest, ReturnSkipsWhatFollowsAndOnlyThat) {
  EXPECT_FALSE(Agree(Seq({If(1, RankIs(0), Return(2)), Barrier(3)}), 0, 1));
  EXPECT_TRUE(Agree(Seq({Barrier(1), If(2, RankIs(0), Return(3))}), 0, 1));
}

TEST_F(ProjectTest, ReturnOfACalleeEndsTheCalleeOnly) {
  const TraceId callee = traces().Scope(At(9), FuncId{1}, Seq({Barrier(1), If(2, RankIs(0), Return(3))}));
  EXPECT_TRUE(Agree(Seq({callee, Barrier(4)}), 0, 1));
}

TEST_F(ProjectTest, EndOfTheProcessReachesThroughCalls) {
  const TraceId exit = traces().Exit(At(2), ExitKind::Process);
  const TraceId callee = traces().Scope(At(9), FuncId{1}, If(1, RankIs(0), exit));
  EXPECT_FALSE(Agree(Seq({callee, Barrier(4)}), 0, 1));
}

TEST_F(ProjectTest, ContinueSkipsTheRestOfTheBody) {
  const TraceId skip = traces().Exit(At(2), ExitKind::Continue);
  const TraceId body = Seq({If(1, RankIs(0), skip), Barrier(3)});
  EXPECT_FALSE(Agree(traces().Loop(At(4), values().Int(5), body), 0, 1));
  const TraceId late = Seq({Barrier(3), If(1, RankIs(0), skip)});
  EXPECT_TRUE(Agree(traces().Loop(At(4), values().Int(5), late), 0, 1));
}

TEST_F(ProjectTest, BreakOfALoopThatIssuesNothingIsNothing) {
  const TraceId stop = traces().Exit(At(2), ExitKind::Break);
  const TraceId body = Seq({If(1, RankIs(0), stop), If(3, values().False(), Barrier(4))});
  EXPECT_TRUE(Agree(Seq({traces().Loop(At(5), values().Int(5), body), Barrier(6)}), 0, 1));
}

TEST_F(ProjectTest, ReturnOutOfALoopSkipsWhatFollowsTheLoop) {
  const TraceId loop = traces().Loop(At(5), values().Int(5), If(1, RankIs(0), Return(2)));
  EXPECT_FALSE(Agree(Seq({loop, Barrier(6)}), 0, 1));
  EXPECT_TRUE(Agree(loop, 0, 1));
}

TEST_F(ProjectTest, UniformChoiceStaysAsItIs) {
  const ValueId flag = values().Fresh({});
  const TraceId trace = Seq({If(1, flag, Return(2)), Barrier(3)});
  EXPECT_TRUE(Agree(trace, 0, 1));
  EXPECT_NE(On(0, trace), kNothing);
}

TEST_F(ProjectTest, RecursiveCallIsEqualToItself) {
  const TraceId rec = traces().Rec(At(1), FuncId{1});
  EXPECT_TRUE(Agree(Seq({rec, Barrier(2)}), 0, 1));
  EXPECT_FALSE(Agree(If(1, RankIs(0), rec), 0, 1));
}

TEST_F(ProjectTest, UncaughtRaiseIsSilentACaughtOneIsAPath) {
  const TraceId raise = traces().Exit(At(2), ExitKind::Raise);
  const TraceId body = Seq({If(1, RankIs(0), raise), Barrier(3)});
  EXPECT_EQ(On(0, body), kRaised);
  TryInfo info;
  info.handlers.push_back({{}, Breadth::Broad, {}});
  const TraceId parts[] = {body, traces().Empty(), traces().Empty(), traces().Empty()};
  const TraceId caught = traces().Try(At(4), traces().AddTry(info), parts);
  EXPECT_EQ(On(0, caught), kNothing);
  EXPECT_FALSE(Agree(caught, 0, 1));
}

TEST_F(ProjectTest, FinallyRunsOnTheWayOut) {
  const TraceId parts[] = {Seq({If(1, RankIs(0), Return(2)), If(3, values().False(), Barrier(4))}), traces().Empty(),
                           Barrier(5)};
  const TraceId trace = traces().Try(At(6), traces().AddTry({}), parts);
  EXPECT_TRUE(Agree(trace, 0, 1));
  EXPECT_NE(On(0, trace), kNothing);
}

TEST_F(ProjectTest, ArmsThatEachRankDecidesMustAgreeWithWhatFollows) {
  const ValueId nan = values().Fresh(kData);
  const TraceId skip = traces().Exit(At(2), ExitKind::Continue);
  Own(0, traces().Loop(At(4), values().Int(9), Seq({If(1, nan, skip), Barrier(3)})), kData);
  ASSERT_THAT(own, SizeIs(1));
  EXPECT_EQ(own[0].first, kNothing);
  EXPECT_NE(own[0].second, kNothing);
  Own(0, Seq({If(1, nan, Barrier(2), Barrier(3)), Barrier(4)}), kData);
  EXPECT_THAT(own, SizeIs(0));
}

TEST_F(ProjectTest, BreakThatEachRankDecidesSkipsTheNextRound) {
  const ValueId worse = values().Fresh(kData);
  const TraceId stop = traces().Exit(At(2), ExitKind::Break);
  Own(0, traces().Loop(At(4), values().Int(9), Seq({Barrier(1), If(3, worse, stop)})), kData);
  ASSERT_THAT(own, SizeIs(1));
  EXPECT_NE(sequences.FirstOp(own[0].second), kNothing) << "the ranks that stay go on with the next round";
}

TEST_F(ProjectTest, LoopWithACountOfItsOwnMustIssueNothing) {
  const ValueId count = values().Fresh(kData);
  Own(0, traces().Loop(At(1), count, Barrier(2)), kData);
  EXPECT_THAT(own, SizeIs(1));
}

// `while True: if not ready: continue; barrier()`: who is not ready comes by later.
TEST_F(ProjectTest, RoundsThatIssueNothingOfAnEndlessLoopDoNotCount) {
  const TraceId skip = traces().Exit(At(2), ExitKind::Continue);
  const TraceId root_only = If(5, RankIs(0), If(1, values().Fresh({}), skip));
  EXPECT_TRUE(Agree(traces().Loop(At(4), values().True(), Seq({root_only, Barrier(3)})), 0, 1));
  EXPECT_FALSE(Agree(traces().Loop(At(4), values().Int(9), Seq({root_only, Barrier(3)})), 0, 1));
}

// What is asked in the other sense further in is not asked again.
TEST_F(ProjectTest, ContradictoryPathsAreNotPaths) {
  const ValueId key = values().Fresh({});
  const ValueId table = values().Fresh({});
  const TraceId inner = If(1, values().Compare(ir::CompareOp::NotIn, key, table), Barrier(2));
  const TraceId trace = If(3, values().Compare(ir::CompareOp::In, key, table), If(4, values().Fresh({}), inner));
  Scene scene(state(), World{.nodes = 1, .per_node = 2, .mesh = {}}, Assignment{});
  const VaryingNodes nodes = CollectVarying(state(), trace);
  scene.FindClasses(traces(), nodes);
  EXPECT_EQ(Projector(state(), scene, sequences, {.rank = 0}, settled).Run(trace), kNothing);
}

TEST_F(ProjectTest, NobodyGetsBehindAnExit) {
  const TraceId late = Barrier(3);
  const TraceId trace = Seq({If(1, RankIs(0), Return(2)), late});
  Scene scene(state(), World{.nodes = 1, .per_node = 2, .mesh = {}}, Assignment{});
  EXPECT_FALSE(NodesReached(state(), scene, trace, 0).contains(late.index));
  EXPECT_TRUE(NodesReached(state(), scene, trace, 1).contains(late.index));
}

TEST_F(ProjectTest, SettledChoiceIsTheSameOnAllRanks) {
  const TraceId trace = If(1, RankIs(0), Barrier(2));
  settled.insert(trace.index);
  EXPECT_TRUE(Agree(trace, 0, 1));
}

TEST_F(ProjectTest, SizeOfASmallWorldDecidesNothing) {
  const ValueId large = values().Compare(ir::CompareOp::GreaterEq, values().Coordinate(knowledge::Coordinate::WorldSize),
                                         values().Int(8));
  EXPECT_NE(On(0, If(1, large, Barrier(2))), kNothing);
}

std::vector<uint32_t> ClassesOf(const State& state, TraceId trace) {
  Scene scene(state, World{.nodes = 2, .per_node = 2, .mesh = {}}, Assignment{});
  scene.FindClasses(state.traces, CollectVarying(state, trace));
  return {scene.ClassOf(0), scene.ClassOf(1), scene.ClassOf(2), scene.ClassOf(3)};
}

TEST_F(ProjectTest, RanksThatNoConditionTellsApartAreOneClass) {
  EXPECT_THAT(ClassesOf(state(), Barrier(1)), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(ClassesOf(state(), If(1, LocalRankIs(0), Barrier(2))), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(ClassesOf(state(), Seq({If(1, LocalRankIs(0), Barrier(2)), If(3, RankIs(0), Barrier(4))})),
              ElementsAre(0, 1, 2, 1));
}

TEST_F(ProjectTest, CallsKnownFromAnotherProjectionAreLookedAtAgainWhereAChoiceIsAgreed) {
  const TraceId choice = If(1, RankIs(0), Barrier(2));
  const TraceId trace = traces().Scope(At(9), FuncId{1}, choice);
  EXPECT_FALSE(Agree(trace, 0, 1));
  Scene scene(state(), World{.nodes = 2, .per_node = 2, .mesh = {}}, Assignment{});
  const auto agreed_on = [&](uint32_t rank) {
    return Projector(state(), scene, sequences, {.rank = rank, .agreed = choice}, settled).Run(trace);
  };
  EXPECT_TRUE(sequences.Same(agreed_on(0), agreed_on(1)));
}

TEST_F(ProjectTest, FingerprintsTellDecisionsApart) {
  const ValueId flag = values().Fresh({});
  const TraceId trace = If(1, flag, Barrier(2));
  const auto fingerprint = [&](Assignment assignment) {
    Scene scene(state(), World{.nodes = 1, .per_node = 2, .mesh = {}}, std::move(assignment));
    scene.FindClasses(traces(), CollectVarying(state(), trace));
    return scene.Fingerprint();
  };
  EXPECT_NE(fingerprint({{flag.index, 1}}), fingerprint({{flag.index, 0}}));
  EXPECT_EQ(fingerprint({}), fingerprint({{values().Fresh({}).index, 1}}));
}

TEST_F(ProjectTest, RootsTellRanksApart) {
  EXPECT_THAT(ClassesOf(state(), Broadcast(1, Rank())), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ClassesOf(state(), Broadcast(1, values().Int(0))), ElementsAre(0, 0, 0, 0));
}

}  // namespace
}  // namespace allranks::traces
