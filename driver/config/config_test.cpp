#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/config/project.h"
#include "driver/config/rule_selection.h"
#include "driver/config/settings.h"
#include "driver/config/spelling.h"

namespace allranks::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Codes(const std::vector<RuleChoice>& choices) {
  const auto rules = SelectRules(choices);
  std::vector<std::string> codes;
  if (!rules) return {"error: " + rules.error().message};
  for (const rules::Rule* rule : *rules) codes.emplace_back(rule->code);
  return codes;
}

TEST(SpellingTest, NearWordsOnly) {
  const std::vector<std::string_view> words = {"select", "ignore", "exclude"};
  EXPECT_EQ(Nearest("slect", words), "select");
  EXPECT_EQ(Nearest("IGNROE", words), "ignore");
  EXPECT_EQ(Nearest("zebra", words), "");
  EXPECT_EQ(DidYouMean("exlude", words), "; did you mean `exclude`?");
}

TEST(RuleSelectionTest, WithoutAChoiceWhatIsOnByDefault) {
  const std::vector<std::string> codes = Codes({});
  for (const rules::Rule* rule : rules::AllRules()) {
    EXPECT_EQ(std::find(codes.begin(), codes.end(), rule->code) != codes.end(), rule->on_by_default) << rule->code;
  }
}

TEST(RuleSelectionTest, CodesNamesPrefixesAndAll) {
  EXPECT_THAT(Codes({{.select = {{"AR101"}}}}), ElementsAre("AR101"));
  EXPECT_THAT(Codes({{.select = {{"rank-guarded-collective"}}}}), ElementsAre("AR101"));
  EXPECT_THAT(Codes({{.select = {{"AR00"}}}}), ElementsAre("AR001", "AR002", "AR003"));
  EXPECT_EQ(Codes({{.select = {{"ALL"}}}}).size(), rules::AllRules().size());
}

TEST(RuleSelectionTest, TheLongerSelectorWinsAndIgnoringATie) {
  EXPECT_THAT(Codes({{.select = {{"AR00"}}, .ignore = {"AR002"}}}), ElementsAre("AR001", "AR003"));
  EXPECT_THAT(Codes({{.select = {{"AR002"}}, .ignore = {"AR00"}}}), ElementsAre("AR002"));
  EXPECT_THAT(Codes({{.select = {{"AR002", "AR001"}}, .ignore = {"AR002"}}}), ElementsAre("AR001"));
}

TEST(RuleSelectionTest, TheCommandLineForgetsWhatTheFileSelects) {
  const RuleChoice file{.select = {{"AR001"}}, .ignore = {"AR002"}};
  EXPECT_THAT(Codes({file, {.select = {{"AR002"}}}}), ElementsAre("AR002"));
  EXPECT_THAT(Codes({{.select = {{"AR00"}}}, {.ignore = {"AR003"}}}), ElementsAre("AR001", "AR002"));
}

TEST(RuleSelectionTest, AnUnknownSelectorSaysWhatIsNear) {
  EXPECT_THAT(Codes({{.select = {{"AR1O1"}}, .origin = "--select"}}),
              ElementsAre("error: --select: no rule `AR1O1`; did you mean `AR101`?"));
  EXPECT_THAT(Codes({{.ignore = {"rank-guarded-colective"}, .origin = "x.toml"}}),
              ElementsAre("error: x.toml: no rule `rank-guarded-colective`; did you mean `rank-guarded-collective`?"));
}

base::Result<Settings> Read(const std::string& name, const std::string& text) {
  return ReadSettings(name, name, source::MemoryFileSystem(std::map<std::string, std::string>{{name, text}}));
}

TEST(SettingsTest, AllKeys) {
  const auto settings = Read("conf/allranks.toml",
                             "select = ['AR1']\nignore = ['AR105']\nexclude = ['third_party/']\n"
                             "knowledge = ['ours.toml', '/abs.toml']\nroot = '..'\n");
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_THAT(*settings->select, ElementsAre("AR1"));
  EXPECT_THAT(settings->ignore, ElementsAre("AR105"));
  EXPECT_THAT(settings->exclude, ElementsAre("third_party/"));
  EXPECT_THAT(settings->knowledge, ElementsAre("conf/ours.toml", "/abs.toml"));
}

TEST(SettingsTest, PyprojectHasATableOfItsOwn) {
  const auto settings = Read("pyproject.toml", "[project]\nname = 'x'\n[tool.allranks]\nignore = ['AR1']\n");
  ASSERT_TRUE(settings.has_value());
  EXPECT_THAT(settings->ignore, ElementsAre("AR1"));
  EXPECT_EQ(settings->select, std::nullopt);
}

TEST(SettingsTest, ErrorsNameTheLine) {
  EXPECT_EQ(Read("a.toml", "\nslect = []\n").error().message, "a.toml:2: unknown key `slect`; did you mean `select`?");
  EXPECT_EQ(Read("a.toml", "select = 'AR1'\n").error().message, "a.toml:1: `select` is to be a list of texts");
  EXPECT_EQ(Read("a.toml", "ignore = ['a',\n 1]\n").error().message, "a.toml:2: `ignore` is to be a list of texts");
  EXPECT_THAT(Read("a.toml", "select = [\n").error().message, HasSubstr("a.toml:"));
  EXPECT_THAT(Read("pyproject.toml", "[project]\n").error().message, HasSubstr("no table [tool.allranks]"));
}

TEST(ProjectTest, RootIsTheRepositoryElseThePackageElseHere) {
  const source::MemoryFileSystem repository({{"/w/.git/HEAD", ""}, {"/w/a/pyproject.toml", ""}, {"/w/a/x.py", ""}});
  EXPECT_EQ(FindRoot({"a/x.py"}, "/w", repository), "/w");
  const source::MemoryFileSystem package({{"/w/setup.py", ""}, {"/w/a/pyproject.toml", ""}, {"/w/a/x.py", ""}});
  EXPECT_EQ(FindRoot({"a/x.py"}, "/w", package), "/w");
  EXPECT_EQ(FindRoot({"x.py"}, "/w/a", package), "/w/a");
  EXPECT_EQ(FindRoot({"/w/a/x.py"}, "/", package), "/w/a");
  const source::MemoryFileSystem bare({{"/w/a/x.py", ""}, {"/v/y.py", ""}});
  EXPECT_EQ(FindRoot({"a/x.py"}, "/w", bare), "/w");
  EXPECT_EQ(FindRoot({"/v/y.py"}, "/w", bare), "/v");
  EXPECT_EQ(FindRoot({"."}, "/w", bare), "/w");
}

TEST(ProjectTest, TheNearestConfigurationCounts) {
  const source::MemoryFileSystem files({{"/w/.git/HEAD", ""},
                                        {"/w/pyproject.toml", "[tool.allranks]\n"},
                                        {"/w/a/pyproject.toml", "[project]\n"},
                                        {"/w/b/allranks.toml", ""},
                                        {"/w/a/x.py", ""},
                                        {"/w/b/x.py", ""}});
  EXPECT_EQ(FindConfig({"a/x.py"}, "/w", "/w", files), "/w/pyproject.toml");
  EXPECT_EQ(FindConfig({"b/x.py"}, "/w", "/w", files), "/w/b/allranks.toml");
  EXPECT_EQ(FindConfig({"."}, "/w", "/w/b", files), "/w/b/allranks.toml");
}

}  // namespace
}  // namespace allranks::config
