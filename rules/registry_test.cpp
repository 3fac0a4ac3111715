// The registry tests itself: what every rule must have, so that no rule can be half made.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "rules/rule.h"

namespace allranks::rules {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kRoot = ALLRANKS_SOURCE_DIR;
constexpr std::string_view kHeadings[] = {"## What it finds",     "## Why it hurts", "## Wrong", "## Right",
                                          "## When it is silent", "## Fix",          "## Proof"};

std::string Read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string PageName(const Rule& rule) {
  return std::string(rule.code) + "-" + std::string(rule.name) + ".md";
}

class EveryRule : public testing::TestWithParam<const Rule*> {
 protected:
  const Rule& rule() const { return *GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Registry, EveryRule, testing::ValuesIn(AllRules().begin(), AllRules().end()),
                         [](const auto& param) { return std::string(param.param->code); });

TEST_P(EveryRule, CodeAndNameLeadBackToIt) {
  EXPECT_EQ(FindRule(rule().code), &rule());
  EXPECT_EQ(FindRule(rule().name), &rule());
}

TEST_P(EveryRule, CodeIsWellFormed) {
  EXPECT_TRUE(std::regex_match(std::string(rule().code), std::regex("AR[0-9]{3}")));
}

// "allow rank-guarded-collective" must read right: the name says the bad thing, not the cure.
TEST_P(EveryRule, NameSaysTheBadPattern) {
  const std::string name(rule().name);
  EXPECT_TRUE(std::regex_match(name, std::regex("[a-z]+(-[a-z0-9]+)*"))) << name;
  for (const char* banned : {"avoid-.*", "do-not-.*", "prefer-.*", "consider-.*", "use-.*", ".*-used"}) {
    EXPECT_FALSE(std::regex_match(name, std::regex(banned))) << name << " matches " << banned;
  }
}

TEST_P(EveryRule, PreviewIsOffAndSaysWhy) {
  if (rule().preview.empty()) return;
  EXPECT_FALSE(rule().on_by_default);
  EXPECT_THAT(RulePage(rule()), HasSubstr(std::string(rule().preview)));
  EXPECT_FALSE(rule().preview.ends_with('.'));
}

TEST_P(EveryRule, PreviewInPartIsOnAndSaysWhy) {
  if (rule().preview_in_part.empty()) return;
  EXPECT_TRUE(rule().on_by_default && rule().preview.empty());
  EXPECT_THAT(RulePage(rule()), HasSubstr(std::string(rule().preview_in_part)));
  EXPECT_FALSE(rule().preview_in_part.ends_with('.'));
}

TEST_P(EveryRule, SummaryIsOneLineWithoutFullStop) {
  const std::string_view summary = rule().summary;
  ASSERT_FALSE(summary.empty());
  EXPECT_TRUE(std::islower(static_cast<unsigned char>(summary.front())) || summary.front() == '`') << summary;
  EXPECT_NE(summary.back(), '.') << summary;
  EXPECT_EQ(summary.find('\n'), std::string_view::npos) << summary;
  EXPECT_LE(summary.size(), 110u) << summary;
}

TEST_P(EveryRule, ExplanationHasTheHeadingsInOrder) {
  size_t at = 0;
  for (const std::string_view heading : kHeadings) {
    const size_t found = rule().explanation.find("\n" + std::string(heading) + "\n", at);
    ASSERT_NE(found, std::string_view::npos) << "lacks, or has out of order: " << heading;
    at = found + heading.size();
  }
  const std::string text(rule().explanation);
  const std::regex heading_line("\n## ");
  EXPECT_EQ(
      std::distance(std::sregex_iterator(text.begin(), text.end(), heading_line), std::sregex_iterator()),
      static_cast<std::ptrdiff_t>(std::size(kHeadings)));
}

TEST_P(EveryRule, NoHeadingStandsEmpty) {
  const std::string text = std::string(rule().explanation) + "\n## ";
  for (const std::string_view heading : kHeadings) {
    const size_t begin = text.find(heading) + heading.size();
    const size_t end = text.find("\n## ", begin);
    EXPECT_GT(end - begin, 20u) << heading;
  }
}

// A page in a terminal and in a diff: no line that wraps.
TEST_P(EveryRule, ExplanationLinesAreShort) {
  std::istringstream lines{std::string(rule().explanation)};
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110u) << line;
}

TEST_P(EveryRule, WrongAndRightShowCode) {
  const std::string text(rule().explanation);
  for (const char* heading : {"\n## Wrong\n", "\n## Right\n"}) {
    const size_t begin = text.find(heading);
    const std::string section = text.substr(begin, text.find("\n## ", begin + 4) - begin);
    EXPECT_THAT(section, HasSubstr("\n```")) << heading;
  }
}

TEST_P(EveryRule, HasWrongAndRightFixtures) {
  const fs::path folder = kRoot / "fixtures" / rule().code;
  int wrong = 0, right = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    (entry.path().filename().string().starts_with("ok_") ? right : wrong) += 1;
  }
  EXPECT_GE(wrong, 1) << folder;
  EXPECT_GE(right, 1) << folder;
}

TEST_P(EveryRule, PageInDocsIsNotStale) {
  EXPECT_EQ(Read(kRoot / "docs" / "rules" / PageName(rule())), RulePage(rule()))
      << "run tools/update_rule_docs";
}

TEST_P(EveryRule, StandsInTheTableOfRules) {
  const std::string_view run = rule().preview_in_part.empty() ? "on" : "in part";
  const std::string_view by_default = rule().on_by_default ? run : rule().preview.empty() ? "off" : "preview";
  std::string_view fix = "";
  if (rule().has_fix) fix = rule().fix == Applicability::Safe ? "`--fix`" : "`--unsafe-fixes`";
  const std::string row =
      fmt::format("| [{}]({}) | {} | {} | {} | {} | {} | {} |\n", rule().code, PageName(rule()), rule().name,
                  findings::ToString(rule().severity), by_default, rule().languages, fix, rule().summary);
  EXPECT_THAT(Read(kRoot / "docs" / "rules" / "README.md"), HasSubstr(row)) << "run tools/update_rule_docs";
}

TEST(Registry, CodesAndNamesAreUniqueAndInOrder) {
  std::set<std::string_view> names;
  std::string_view before;
  for (const Rule* rule : AllRules()) {
    EXPECT_LT(before, rule->code);
    EXPECT_TRUE(names.insert(rule->name).second) << rule->name;
    before = rule->code;
  }
}

TEST(Registry, DocsHoldNoPageOfARuleThatIsGone) {
  std::set<std::string> expected = {"README.md"};
  for (const Rule* rule : AllRules()) expected.insert(PageName(*rule));
  for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / "docs" / "rules")) {
    EXPECT_TRUE(expected.contains(entry.path().filename().string())) << entry.path();
  }
}

TEST(Registry, UnknownRuleIsNotFound) {
  EXPECT_EQ(FindRule("AR999"), nullptr);
  EXPECT_EQ(FindRule(""), nullptr);
}

}  // namespace
}  // namespace allranks::rules
