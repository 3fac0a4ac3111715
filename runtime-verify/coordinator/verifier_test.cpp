#include "runtime-verify/coordinator/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime-verify/coordinator/scale.h"
#include "runtime-verify/coordinator/self_test.h"
#include "witness/json.h"
#include "witness/matching.h"

namespace allranks::verify {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using witness::Effect;
using witness::OpKind;
using witness::Witness;

Witness Alone(uint32_t world) {
  Witness w{.finding = "AR101/1", .world = world};
  w.comms = {{"world", {}}};
  w.classes = {{"first", {0}, "rank == 0"}, {"rest", {}, ""}};
  for (uint32_t rank = 0; rank < world; ++rank) {
    w.comms[0].ranks.push_back(rank);
    if (rank > 0) w.classes[1].ranks.push_back(rank);
  }
  w.ops = {{{.id = "x",
             .op = "all_reduce",
             .comm = "world",
             .redop = "",
             .source = "dist.all_reduce",
             .at = {"t.py", 7}}},
           {}};
  return w;
}

TEST(VerifierTest, WithoutABackendTheModelDecides) {
  InterruptGuard interrupt;
  Verifier verifier({}, nullptr, interrupt);
  const Verdict verdict = verifier.Verify(Alone(3));
  EXPECT_EQ(verdict.kind, VerdictKind::Reproduced);
  EXPECT_EQ(verdict.effect, Effect::Deadlock);
  EXPECT_FALSE(IsSeen(verdict));
  EXPECT_EQ(verdict.expected.Text(), "deadlock (protocols LL and Simple)");
}

TEST(VerifierTest, AThousandRanksAreFast) {
  InterruptGuard interrupt;
  Verifier verifier({}, nullptr, interrupt);
  const Verdict verdict = verifier.Verify(Alone(1000));
  EXPECT_EQ(verdict.trials[0].outcome.stuck[0].waits_for.size(), 999u);
  EXPECT_EQ(verdict.expected.Text(), "");
}

// A broadcast that only its root issues, from PyTorch.
Witness ToNobody(witness::Communicators communicators) {
  Witness w = Alone(2);
  w.ops[0][0].op = "broadcast";
  w.ops[0][0].root = 0;
  w.ops[0][0].source = "torch.distributed.broadcast";
  w.communicators = communicators;
  return w;
}

TEST(ExpectationTest, TheTextSaysWhichModelHolds) {
  using witness::Communicators;
  const std::string late = ExpectedOf(ToNobody(Communicators::FirstUse)).Text();
  EXPECT_EQ(late, "deadlock in the first operation of a group, in which PyTorch makes its communicator; later corruption (protocols LL and Simple)");
  EXPECT_THAT(ExpectedOf(ToNobody(Communicators::Unknown)).Text(), HasSubstr("unless init_process_group is given device_id="));
  EXPECT_EQ(ExpectedOf(ToNobody(Communicators::AtInit)).Text(),
            "corruption (protocols LL and Simple); init_process_group is given device_id=, so it makes the communicators");
}

TEST(ExpectationTest, SettingUpTheJobMakesNoCommunicator) {
  Witness w = ToNobody(witness::Communicators::FirstUse);
  const witness::Op init{.id = "i", .op = "barrier", .comm = "world", .redop = "", .source = "torch.distributed.init_process_group", .at = {}};
  w.ops[0].insert(w.ops[0].begin(), init);
  w.ops[1].push_back(init);
  EXPECT_TRUE(ExpectedOf(w).at_first_use);
}

TEST(ExpectationTest, AGroupThatWasUsedBeforeIsMade) {
  Witness w = ToNobody(witness::Communicators::FirstUse);
  const witness::Op before{.id = "b", .op = "all_reduce", .comm = "world", .redop = "", .source = "torch.distributed.all_reduce", .at = {}};
  w.ops[0].insert(w.ops[0].begin(), before);
  w.ops[1].push_back(before);
  EXPECT_FALSE(ExpectedOf(w).at_first_use);
}

TEST(VerifierTest, MoreRanksJoinTheLargestClass) {
  InterruptGuard interrupt;
  Verifier verifier({.ranks = 5}, nullptr, interrupt);
  EXPECT_THAT(verifier.Verify(Alone(2)).trials[0].outcome.stuck[0].waits_for, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(verifier.Verify(Alone(8)).reason, HasSubstr("it needs 8 ranks"));
  Witness parts = Alone(3);
  parts.comms.push_back({"g", {0, 1}});
  EXPECT_THAT(verifier.Verify(parts).reason, HasSubstr("groups of part of the ranks"));
}

TEST(VerifierTest, AControlHasEveryKindOnceAndMatches) {
  Witness w = Alone(3);
  w.comms.push_back({"g", {1, 2}});
  w.ops[0].push_back(
      {.id = "s", .op = "send", .comm = "world", .redop = "", .peer = 2, .source = "", .at = {}});
  w.ops[0].push_back(
      {.id = "r", .op = "broadcast", .comm = "world", .redop = "", .root = 2, .source = "", .at = {}});
  w.ops[1].push_back({.id = "g", .op = "barrier", .comm = "g", .redop = "", .source = "", .at = {}});
  w.ops[1].push_back({.id = "h", .op = "barrier", .comm = "g", .redop = "", .source = "", .at = {}});
  const witness::Schedule control = ControlOf(witness::MakeSchedule(w));
  EXPECT_EQ(witness::MatchStrictly(control).effect, Effect::Clean);
  EXPECT_EQ(control.OpsOf(0).size(), 3u);
  EXPECT_EQ(control.OpsOf(1).size(), 4u);
  EXPECT_EQ(control.OpsOf(1)[1].kind, OpKind::Recv);
  EXPECT_EQ(control.OpsOf(2).size(), 3u);
}

TEST(QuietTimeTest, FollowsTheSlowestOperation) {
  using namespace std::chrono_literals;
  EXPECT_EQ(QuietTime({}, 1ms, 3000ms), 3000ms);
  EXPECT_EQ(QuietTime({}, 100ms, 3000ms), 5000ms);
  EXPECT_EQ(QuietTime({}, 10000ms, 3000ms), 15000ms);
  EXPECT_EQ(QuietTime({.quiet = 200ms}, 10000ms, 3000ms), 200ms);
}

TEST(VerdictTextTest, ATimelineNamesWhereEachRankIs) {
  InterruptGuard interrupt;
  Verifier verifier({}, nullptr, interrupt);
  Verdict verdict = verifier.Verify(Alone(3));
  verdict.duration = milliseconds(0);
  const ReportFinding finding{
      .code = "AR101", .place = "t.py:7", .message = "", .witness = {}, .refused = ""};
  EXPECT_EQ(VerdictText(finding, verdict, {.ascii = true}),
            "AR101 t.py:7  hangs in the simulator (3 ranks, 0.0 s)\n"
            "  rank 0      # dist.all_reduce t.py:7  waits for ranks 1, 2\n"
            "  ranks 1, 2  nothing to do\n"
            "  NCCL is expected to show: deadlock (protocols LL and Simple)\n");
}

TEST(VerdictTextTest, NoEscapeSequenceOfAWitnessReachesTheTerminal) {
  InterruptGuard interrupt;
  Verifier verifier({}, nullptr, interrupt);
  Witness w = Alone(2);
  w.ops[0][0].source = "\x1b[31mred\n";
  const ReportFinding finding{.code = "\x1b", .place = "\n", .message = "", .witness = {}, .refused = ""};
  const std::string text = VerdictText(finding, verifier.Verify(w), {.ascii = true});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(SelfTestTest, TheModelIsGood) {
  InterruptGuard interrupt;
  Verifier verifier({}, nullptr, interrupt);
  for (const SelfTestLine& line : RunSelfTest(verifier, {2, 4, 8}))
    EXPECT_TRUE(IsGood(line)) << SelfTestText(line);
  for (const Mismatch& one : Mismatches({2, 3})) EXPECT_EQ(witness::Check(one.witness), "") << one.name;
}

}  // namespace
}  // namespace allranks::verify
