#include "analyzer/findings/finding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allranks::findings {
namespace {

using testing::ElementsAre;

Finding At(uint32_t file, uint32_t begin, std::string_view code, std::string message) {
  return {.code = code, .span = {source::FileId{file}, begin, begin + 1}, .message = {"{}", {std::move(message)}}};
}

std::vector<std::string> Names(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const Finding& finding : findings) names.push_back(std::string(finding.code) + " " + Render(finding.message));
  return names;
}

TEST(RenderTest, HolesTakeArgumentsInOrder) {
  EXPECT_EQ(Render({"`{}` under `{}`", {"barrier", "rank == 0"}}), "`barrier` under `rank == 0`");
}

TEST(FlightRecordTest, SaidAsTheRecorderSaysIt) {
  EXPECT_EQ(ToString(FlightRecord::MissingRanks), "missing ranks");
  EXPECT_EQ(ToString(FlightRecord::None), "");
}

TEST(RenderTest, ArgumentsAreNotReadAsFormats) { EXPECT_EQ(Render({"{} and {}", {"{}", "b"}}), "{} and b"); }

TEST(RenderTest, TooManyAndTooFewArgumentsLoseNothing) {
  EXPECT_EQ(Render({"no hole", {"a"}}), "no hole");
  EXPECT_EQ(Render({"{} {}", {"a"}}), "a {}");
}

TEST(OrderTest, ByPathThenPlaceThenCode) {
  std::vector<Finding> findings = {At(1, 5, "AR101", "d"), At(0, 9, "AR101", "c"), At(0, 2, "AR104", "b"),
                                   At(0, 2, "AR101", "a")};
  SortAndDeduplicate(findings, {0, 1});
  EXPECT_THAT(Names(findings), ElementsAre("AR101 a", "AR104 b", "AR101 c", "AR101 d"));
}

TEST(OrderTest, PathRankDecidesNotTheNumberOfTheFile) {
  std::vector<Finding> findings = {At(0, 1, "AR101", "a"), At(1, 1, "AR101", "b")};
  SortAndDeduplicate(findings, {1, 0});
  EXPECT_THAT(Names(findings), ElementsAre("AR101 b", "AR101 a"));
}

TEST(OrderTest, OfEqualFindingsTheSurestStays) {
  std::vector<Finding> findings = {At(0, 1, "AR101", "a"), At(0, 1, "AR101", "a"), At(0, 1, "AR101", "b")};
  findings[0].confidence = Confidence::Possible;
  SortAndDeduplicate(findings, {0});
  EXPECT_THAT(Names(findings), ElementsAre("AR101 a", "AR101 b"));
  EXPECT_EQ(findings[0].confidence, Confidence::Certain);
}

}  // namespace
}  // namespace allranks::findings
