#include "driver/reports/excerpt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allranks::reports {
namespace {

using testing::HasSubstr;
using testing::Not;

// Draws marks given as (text to mark, label).
std::string Draw(const std::string& text, const std::vector<std::pair<std::string, std::string>>& labels,
                 TextStyle style = {}) {
  const source::SourceFile file = *source::MakeSourceFile("a.py", text);
  std::vector<Mark> marks;
  for (const auto& [where, label] : labels) {
    const auto begin = static_cast<uint32_t>(file.text.find(where));
    marks.push_back({{source::FileId{0}, begin, begin + static_cast<uint32_t>(where.size())}, label});
  }
  return DrawExcerpt(file, marks, 2, style);
}

TEST(ExcerptTest, LabelsHangBelowOneAnother) {
  EXPECT_EQ(Draw("aa bb cc\n", {{"aa", "first"}, {"bb", "second"}, {"cc", "third"}}),
            " 1 | aa bb cc\n"
            "   | -- -- -- third\n"
            "   | |  |\n"
            "   | |  second\n"
            "   | first\n");
}

TEST(ExcerptTest, AMarkInsideAnother) {
  EXPECT_EQ(Draw("f(x, y)\n", {{"f(x, y)", "outer"}, {"x", "inner"}}),
            " 1 | f(x, y)\n"
            "   | ------- outer\n"
            "   |   |\n"
            "   |   inner\n");
}

TEST(ExcerptTest, OneLineBetweenIsShownMoreAreLeftOut) {
  EXPECT_EQ(Draw("a\nb\nc\nd\ne\nf\n", {{"a", ""}, {"c", ""}, {"f", ""}}),
            " 1 | a\n   | -\n 2 | b\n 3 | c\n   | -\n...\n 6 | f\n   | -\n");
}

TEST(ExcerptTest, TabsAndWideCharactersKeepTheirPlace) {
  EXPECT_EQ(Draw("\tx = \"\u4f60\u597d\" + y\n", {{"y", "here"}}),
            " 1 |     x = \"\u4f60\u597d\" + y\n"
            "   |                  - here\n");
  EXPECT_EQ(Draw("e\u0301 = y\n", {{"y", "here"}}), " 1 | e\u0301 = y\n   |     - here\n");
}

TEST(ExcerptTest, OfSeveralLinesTheFirstIsUnderlined) {
  EXPECT_EQ(Draw("f(\n  x)\n", {{"f(\n  x)", "call"}}), " 1 | f(\n   | -- call\n");
}

TEST(ExcerptTest, LongLinesAreCutAroundTheMarks) {
  const std::string line = std::string(300, 'a') + " mark " + std::string(300, 'b');
  const std::string drawn = Draw(line + "\n", {{"mark", "here"}}, {.width = 80});
  EXPECT_THAT(drawn, HasSubstr("\u2026aaaaaaaaaaaaaaaaaaaaaa mark bbb"));
  EXPECT_THAT(drawn, HasSubstr("   |                         ---- here\n"));
  EXPECT_THAT(drawn, Not(HasSubstr(std::string(80, 'b'))));
}

TEST(ExcerptTest, AMarkLongerThanTheLineIsCut) {
  const std::string drawn = Draw(std::string(300, 'a') + "\n", {{std::string(300, 'a'), "here"}}, {.width = 60});
  EXPECT_THAT(drawn, HasSubstr("\n   | " + std::string(54, '-') + " here\n"));
}

TEST(ExcerptTest, AtTheEndOfTheFile) { EXPECT_EQ(Draw("x", {{"", "end"}}), " 1 | x\n   | - end\n"); }

TEST(ExcerptTest, AnEmptyFile) { EXPECT_EQ(Draw("", {{"", "empty"}}), " 1 |\n   | - empty\n"); }

}  // namespace
}  // namespace allranks::reports
