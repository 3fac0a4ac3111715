#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/reports/example_report.h"

namespace allranks::reports {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(FullTest, ExcerptTimelineAndHelp) {
  const Example example = MakeExample();
  EXPECT_EQ(RenderFull(example.report(), {}),
            R"(error[AR101]: only rank 0 reaches `torch.distributed.barrier`
 --> train loop.py:6:9, in `save`
  |
2 |     is_main = rank == 0
  |     -------   --------- the global rank
  |     |
  |     `is_main` holds on rank 0 only
...
6 |         sync(model)
  |         ^^^^^^^^^^^ rank 0 waits in here
7 |     dist.all_reduce(loss)
  |     --------------------- the other ranks wait here
 ::: helpers.py:2:2
  |
2 |     dist.barrier()
  |     -------------- the barrier
  |
  = timeline: 4 ranks
      rank 0     ──■ barrier helpers.py:2  waits for ranks 1-3
      ranks 1-3  ──■ all_reduce :7         wait for rank 0
  = note: PyTorch's Flight Recorder will call this "collective type mismatch"
  = help: call it on every rank

Found 1 error in 1 of 2 files; collective calls: 1 flagged, 1 unknown.
)");
}

TEST(FullTest, ColoursOnlyIfAskedFor) {
  const Example example = MakeExample();
  EXPECT_THAT(RenderFull(example.report(), {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(RenderFull(example.report(), {.color = true}), HasSubstr("\x1b[1;31merror[AR101]\x1b[0m"));
}

TEST(FullTest, AsciiWhereTheTerminalKnowsNothingElse) {
  EXPECT_THAT(RenderFull(MakeExample().report(), {.ascii = true}), HasSubstr("rank 0     --# barrier helpers.py:2"));
}

TEST(FullTest, LikelyIsSaidCertainIsNot) {
  Example example = MakeExample();
  example.findings[0].confidence = findings::Confidence::Likely;
  EXPECT_THAT(RenderFull(example.report(), {}), HasSubstr("6:9, in `save` (likely)\n"));
}

TEST(FullTest, WhatIsAssumedIsSaid) {
  Example example = MakeExample();
  findings::Assume(example.findings[0], findings::Assumptions::Of(findings::Assumption::BatchDiffers));
  EXPECT_THAT(RenderFull(example.report(), {}), HasSubstr("(likely)\n"));
  EXPECT_THAT(RenderFull(example.report(), {}), HasSubstr("  = assumed: ranks work on different batches\n"));
  EXPECT_THAT(RenderJson(example.report()), HasSubstr("\"kind\": \"batch-differs\""));
  EXPECT_THAT(RenderSarif(example.report()), HasSubstr("\"kind\": \"batch-differs\""));
  EXPECT_THAT(RenderHtml(example.report()), HasSubstr("<dt>assumed</dt><dd>ranks work on different batches</dd>"));
}

TEST(FullTest, QuietHasNoSummary) {
  EXPECT_THAT(RenderFull(MakeExample().report(), {.quiet = true}), Not(HasSubstr("Found")));
}

TEST(FullTest, LongHelpIsBrokenAtSpaces) {
  Example example = MakeExample();
  example.findings[0].help = {"{}", {"word " + std::string(90, 'x') + " end"}};
  EXPECT_THAT(RenderFull(example.report(), {}), HasSubstr("help: word\n          " + std::string(90, 'x')));
}

TEST(FullTest, WhatIsAnalysedCannotSteerTheTerminal) {
  Example example;
  example.files.Add(*source::MakeSourceFile("a\x1b[31m.py", "f(\"\x1b[2J\xe2\x80\xae\")\n"));
  example.findings.push_back({.code = "AR101", .span = {source::FileId{0}, 0, 1}, .message = {"`{}`", {"\x1b[2J\n"}}});
  const std::string text = RenderFull(example.report(), {}) + RenderConcise(example.report(), {});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae")));
}

TEST(ConciseTest, OneLineAFinding) {
  EXPECT_EQ(RenderConcise(MakeExample().report(), {.quiet = true}),
            "train loop.py:6:9: error: AR101 only rank 0 reaches `torch.distributed.barrier`\n");
}

TEST(CoverageTest, WhatAlignedCallsRestOnIsCounted) {
  Example example = MakeExample();
  example.ledger[1] = {example.ledger[1].span, "torch.distributed.all_reduce", Verdict::Aligned, "",
                       findings::Assumptions::Of(findings::Assumption::CallerUnknown)};
  const std::string text = RenderCoverage(example.report(), {}, true);
  EXPECT_THAT(text, HasSubstr("aligned as far as read `torch.distributed.all_reduce`: assumed: every rank calls this function"));
  EXPECT_THAT(text, HasSubstr("Aligned calls assume that\n       1  every rank calls"));
}

TEST(CoverageTest, SharesAndReasons) {
  EXPECT_EQ(RenderCoverage(MakeExample().report(), {}, true),
            R"(helpers.py:2:2: flagged `torch.distributed.barrier`
train loop.py:7:5: unknown `torch.distributed.all_reduce`: group unknown

Collective calls: 2
  proven aligned               0     0.0 %
  aligned as far as read       0     0.0 %
  flagged                      1    50.0 %
  unknown                      1    50.0 %
Unknown because of
       1  group unknown
)");
}

}  // namespace
}  // namespace allranks::reports
