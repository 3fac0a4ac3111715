#include "driver/baseline/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allranks::baseline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Fingerprints(const Baseline& baseline) {
  std::vector<std::string> names;
  for (const Entry& entry : baseline.entries) names.push_back(entry.fingerprint);
  return names;
}

TEST(BaselineTest, WhatIsWrittenIsReadAgainSortedByPlace) {
  const Baseline baseline{{{"b1", "AR101", "b.py", "", "with \"quotes\" and \xff"}, {"a1", "AR104", "a.py", "f", "m"}}};
  const std::string text = Write(baseline);
  const auto read = Parse("x.json", text);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_THAT(Fingerprints(*read), ElementsAre("a1", "b1"));
  EXPECT_EQ(Write(*read), text);
  EXPECT_EQ(Write({}), "{\n  \"version\": 1,\n  \"findings\": []\n}\n");
}

TEST(BaselineTest, WhatIsNoBaselineIsAnError) {
  for (const char* text : {"", "[]", "{}", "{\"version\": 1, \"findings\": [{}]}", "{\"version\": 2, \"findings\": []}"}) {
    EXPECT_THAT(Parse("x.json", text).error().message, HasSubstr("--update-baseline")) << text;
  }
}

TEST(BaselineTest, KnownFindingsAreTakenOut) {
  std::vector<findings::Finding> findings(2);
  findings[0].fingerprint = "new";
  findings[1].fingerprint = "old";
  const auto known = TakeKnown({{{"old", "", "", "", ""}, {"gone", "", "", "", ""}}}, findings);
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].fingerprint, "old");
  EXPECT_EQ(findings[0].fingerprint, "new");
}

TEST(BaselineTest, OnlyWhatCouldHaveBeenFoundIsGone) {
  const Baseline baseline{{{"found", "", "a.py", "", ""}, {"fixed", "", "a.py", "", ""}, {"elsewhere", "", "b.py", "", ""}}};
  const Baseline left = WithoutGone(baseline, {"found"}, [](const Entry& entry) { return entry.path == "a.py"; });
  EXPECT_THAT(Fingerprints(left), ElementsAre("found", "elsewhere"));
}

}  // namespace
}  // namespace allranks::baseline
