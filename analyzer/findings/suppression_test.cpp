#include "analyzer/findings/suppression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace allranks::findings {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A program with its statements given as the texts they consist of, outer ones with `header|body`.
class Program {
 public:
  Program(std::string text, const std::vector<std::string>& statements) {
    files_.Add(*source::MakeSourceFile("a.py", std::move(text)));
    const std::string& whole = files_[source::FileId{0}].text;
    for (const std::string& statement : statements) {
      const size_t bar = statement.find('|');
      const std::string header = statement.substr(0, bar);
      const std::string rest = bar == std::string::npos ? "" : statement.substr(bar + 1);
      const auto begin = static_cast<uint32_t>(whole.find(header + rest));
      const auto header_end = static_cast<uint32_t>(begin + header.size());
      syntax_.statements.push_back({begin, static_cast<uint32_t>(header_end + rest.size()), header_end});
    }
    for (size_t at = whole.find('#'); at != std::string::npos; at = whole.find('#', whole.find('\n', at))) {
      const size_t end = std::min(whole.find('\n', at), whole.size());
      syntax_.comments.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(end), 0});
    }
    syntax_.file = source::FileId{0};
  }

  // A finding at the n-th "barrier".
  Program& Find(std::string_view code, int nth = 0) {
    const std::string& whole = files_[source::FileId{0}].text;
    size_t at = whole.find("barrier");
    for (int i = 0; i < nth; ++i) at = whole.find("barrier", at + 1);
    const auto begin = static_cast<uint32_t>(at);
    findings_.push_back({.code = code, .span = {source::FileId{0}, begin, begin + 7}, .message = {"found", {}}});
    return *this;
  }

  std::vector<std::string> Left(const std::set<std::string_view>& ran = {"AR101", "AR104", "AR002"},
                                bool require_reason = false) {
    const KnownRules rules{
        .code_of = [](std::string_view name) -> std::string_view {
          if (name == "AR101" || name == "rank-guarded-collective") return "AR101";
          return name == "AR104" || name == "AR002" ? name : "";
        },
        .nearest = [](std::string_view) { return std::string_view("AR101"); },
        .ran = [&](source::FileId, std::string_view code) { return ran.contains(code); },
        .require_reason = [&](source::FileId) { return require_reason; }};
    suppressed_ = ApplySuppressions(files_, std::span(&syntax_, 1), rules, findings_);
    std::vector<std::string> left;
    for (const Finding& finding : findings_) left.push_back(std::string(finding.code) + ": " + Render(finding.message));
    return left;
  }
  // What the comments say of the findings they accept.
  std::vector<std::string> Reasons() const {
    std::vector<std::string> reasons;
    for (const Suppressed& one : suppressed_) reasons.push_back(std::string(one.finding.code) + ": " + one.reason);
    return reasons;
  }
  // The text once the first fix of each complaint is applied, from the last to the first.
  std::string Fixed() const {
    std::string text = files_[source::FileId{0}].text;
    source::Span last;
    for (auto finding = findings_.rbegin(); finding != findings_.rend(); ++finding) {
      if (finding->fixes.empty() || finding->fixes[0].edits[0].span == last) continue;
      const Edit& edit = finding->fixes[0].edits[0];
      text.replace(edit.span.begin, edit.span.end - edit.span.begin, edit.replacement);
      last = edit.span;
    }
    return text;
  }

 private:
  std::vector<Suppressed> suppressed_;
  source::SourceFiles files_;
  FileSyntax syntax_;
  std::vector<Finding> findings_;
};

TEST(SuppressionTest, AtTheEndOfTheLine) {
  Program program("barrier()  # allranks: ignore[AR101] all ranks come here\n", {"barrier()"});
  EXPECT_THAT(program.Find("AR101").Left(), IsEmpty());
}

TEST(SuppressionTest, OnlyTheCodeNamed) {
  Program program("barrier()  # allranks: ignore[AR104]\n", {"barrier()"});
  EXPECT_THAT(program.Find("AR101").Left({"AR101"}), ElementsAre("AR101: found"));
}

TEST(SuppressionTest, SeveralCodesAndNames) {
  Program program("barrier()  #allranks:ignore [ rank-guarded-collective ,AR104]\n", {"barrier()"});
  EXPECT_THAT(program.Find("AR101").Find("AR104").Left(), IsEmpty());
}

TEST(SuppressionTest, OnItsOwnLineItSpeaksOfTheNextStatement) {
  Program program("# allranks: ignore[AR101]\n\nbarrier()\nbarrier(2)\n", {"barrier()", "barrier(2)"});
  EXPECT_THAT(program.Find("AR101", 0).Find("AR101", 1).Left(), ElementsAre("AR101: found"));
}

TEST(SuppressionTest, InsideACallOfSeveralLines) {
  Program own("f(\n  # allranks: ignore[AR101]\n  barrier)\nx\n", {"f(\n  # allranks: ignore[AR101]\n  barrier)", "x"});
  EXPECT_THAT(own.Find("AR101").Left(), IsEmpty());
  Program last("f(\n  barrier,\n)  # allranks: ignore[AR101]\n", {"f(\n  barrier,\n)"});
  EXPECT_THAT(last.Find("AR101").Left(), IsEmpty());
}

TEST(SuppressionTest, TheHeadOfACompoundStatementCoversItsBody) {
  Program program("if x:  # allranks: ignore[AR101]\n  barrier()\n",
                  {"if x|:  # allranks: ignore[AR101]\n  barrier()", "barrier()"});
  EXPECT_THAT(program.Find("AR101").Left(), IsEmpty());
}

TEST(SuppressionTest, OnItsOwnLineInABodyItDoesNotCoverTheWholeStatement) {
  Program program("if x:\n  # allranks: ignore[AR101]\n  barrier()\n  barrier(2)\n",
                  {"if x|:\n  # allranks: ignore[AR101]\n  barrier()\n  barrier(2)", "barrier()", "barrier(2)"});
  EXPECT_THAT(program.Find("AR101", 0).Find("AR101", 1).Left(), ElementsAre("AR101: found"));
}

TEST(SuppressionTest, WholeFile) {
  Program program("barrier()\n# allranks: ignore-file[AR101] generated\n", {"barrier()"});
  EXPECT_THAT(program.Find("AR101").Left(), IsEmpty());
}

TEST(SuppressionTest, UnusedIsAFinding) {
  Program program("barrier()  # allranks: ignore[AR101]\n", {"barrier()"});
  EXPECT_THAT(program.Left(), ElementsAre("AR002: unused suppression of `AR101`"));
}

TEST(SuppressionTest, UnusedIsUnknownIfTheRuleDidNotRun) {
  Program program("barrier()  # allranks: ignore[AR101]\n", {"barrier()"});
  EXPECT_THAT(program.Left({"AR104", "AR002"}), IsEmpty());
}

TEST(SuppressionTest, NobodyAsksIfTheToolRuleIsOff) {
  Program program("barrier()  # allranks: ignore[AR101]\n", {"barrier()"});
  EXPECT_THAT(program.Left({"AR101"}), IsEmpty());
}

TEST(SuppressionTest, UnusedMayBeAccepted) {
  Program program("barrier()  # allranks: ignore[AR101, AR002] differs by version\n", {"barrier()"});
  EXPECT_THAT(program.Left(), IsEmpty());
}

TEST(SuppressionTest, UnknownCodeSaysWhatIsNear) {
  Program program("barrier()  # allranks: ignore[AR1O1]\n", {"barrier()"});
  EXPECT_THAT(program.Find("AR101").Left(),
              ElementsAre("AR101: found", "AR002: suppression of unknown code `AR1O1`; did you mean `AR101`?"));
}

TEST(SuppressionTest, AListThatNobodyWroteIsOneComplaint) {
  std::string codes;
  for (int i = 0; i < 1000; ++i) codes += "ARX" + std::to_string(i) + ", ";
  Program program("barrier()  # allranks: ignore[" + codes + "AR101]\n", {"barrier()"});
  EXPECT_THAT(program.Find("AR101").Left(),
              ElementsAre("AR101: found", "AR002: `allranks: ignore` names more than 128 codes and suppresses nothing"));
}

TEST(SuppressionTest, ComplaintsOfOneFileAreBounded) {
  std::string text;
  for (int i = 0; i < 1500; ++i) text += "x = 1  # allranks: ignore[AR9X9]\n";
  const std::vector<std::string> left = Program(text, {}).Left();
  ASSERT_EQ(left.size(), 1001);
  EXPECT_EQ(left.back(), "AR002: more than 1000 comments of this file suppress nothing or lack a reason; those from here on were not looked at");
}

TEST(SuppressionTest, TheFirstOfSeveralCommentsGivesTheReason) {
  const std::string text = "# allranks: ignore[AR101] first\n# allranks: ignore[AR101] second\nbarrier()  # allranks: ignore[AR101] third\n";
  Program program(text, {"barrier()"});
  EXPECT_THAT(program.Find("AR101").Left(), testing::IsEmpty());
  EXPECT_THAT(program.Reasons(), ElementsAre("AR101: first"));
}

TEST(SuppressionTest, WithoutACodeItSuppressesNothing) {
  for (const char* comment : {"ignore", "ignore[]", "ignore all [AR101]", "ignore[AR101", "ingore[AR101]"}) {
    Program program("barrier()  # allranks: " + std::string(comment) + "\n", {"barrier()"});
    EXPECT_THAT(program.Find("AR101").Left(), ElementsAre("AR101: found", HasSubstr("AR002"))) << comment;
  }
}

TEST(SuppressionTest, TheReasonIsKept) {
  Program program("barrier()  # allranks: ignore[AR101] one rank only  # noqa\n", {"barrier()"});
  EXPECT_THAT(program.Find("AR101").Left(), IsEmpty());
  EXPECT_THAT(program.Reasons(), ElementsAre("AR101: one rank only"));
}

TEST(SuppressionTest, AReasonCanBeAskedFor) {
  Program program("barrier()  # allranks: ignore[AR101]\n", {"barrier()"});
  EXPECT_THAT(program.Find("AR101").Left({"AR101", "AR002"}, true), ElementsAre("AR002: suppression of `AR101` without a reason"));
}

std::string FixedBy(const std::string& text, std::string_view found = "") {
  Program program(text, {"barrier()"});
  if (!found.empty()) program.Find(found);
  program.Left();
  return program.Fixed();
}

TEST(SuppressionFixTest, WhatIsUnusedIsTakenOut) {
  EXPECT_EQ(FixedBy("barrier()  # allranks: ignore[AR101] why\n"), "barrier()\n");
  EXPECT_EQ(FixedBy("x\n  # allranks: ignore[AR101] why\r\nbarrier()\n"), "x\nbarrier()\n");
  EXPECT_EQ(FixedBy("barrier()  # allranks: ignore[AR101, AR104]\n"), "barrier()\n");
  EXPECT_EQ(FixedBy("barrier()  # allranks: ignore[AR101] why  # noqa\n"), "barrier()  # noqa\n");
  EXPECT_EQ(FixedBy("barrier()  # allranks: ignore[AR101, AR104] why\n", "AR101"), "barrier()  # allranks: ignore[AR101] why\n");
  EXPECT_EQ(FixedBy("barrier()  # allranks: ignore[AR104, AR101] why\n", "AR101"), "barrier()  # allranks: ignore[AR101] why\n");
}

TEST(SuppressionFixTest, WhatIsMisspeltIsRespelt) {
  EXPECT_EQ(FixedBy("barrier()  # allranks: ignore[AR1O1]\n"), "barrier()  # allranks: ignore[AR101]\n");
  EXPECT_EQ(FixedBy("barrier()  # allranks: ingore[AR101]\n"), "barrier()  # allranks: ignore[AR101]\n");
  EXPECT_EQ(FixedBy("barrier()  # allranks: disable[AR101]\n"), "barrier()  # allranks: disable[AR101]\n");
}

TEST(SuppressionTest, ProseIsNoDirective) {
  Program program("barrier()  # see `# allranks: ignore[AR101]` in the manual\nx  # allranks is a tool\n",
                  {"barrier()", "x"});
  EXPECT_THAT(program.Left(), IsEmpty());
}

}  // namespace
}  // namespace allranks::findings
