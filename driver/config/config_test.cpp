#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/config/project.h"
#include "driver/config/resolve.h"
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
  EXPECT_EQ(SelectRules(std::vector<RuleChoice>{{.select = {{"ALL"}}}}, true)->size(), rules::AllRules().size());
}

TEST(RuleSelectionTest, PartsInPreviewAreHiddenUntilARuleIsNamed) {
  const rules::Rule& rule = *rules::FindRule("AR104");
  ASSERT_FALSE(rule.preview_in_part.empty());
  EXPECT_TRUE(HidesPreviews(rule, {}, false));
  EXPECT_FALSE(HidesPreviews(rule, {}, true));
  const auto shows = [&](const RuleChoice& choice) { return HidesPreviews(rule, std::vector{choice}, false); };
  EXPECT_TRUE(shows({.select = {{"AR1"}}}));
  EXPECT_TRUE(shows({.ignore = {"AR104"}}));
  EXPECT_FALSE(shows({.select = {{"AR104"}}}));
  EXPECT_FALSE(shows({.extend = {"data-dependent-collective"}}));
  EXPECT_FALSE(HidesPreviews(*rules::FindRule("AR910"), {}, false));
  const auto shows_both = [&](const RuleChoice& file, const RuleChoice& line) { return HidesPreviews(rule, std::vector{file, line}, false); };
  EXPECT_TRUE(shows_both({.select = {{"AR104"}}}, {.select = {{"AR1"}}}));
  EXPECT_FALSE(shows_both({.select = {{"AR104"}}}, {.ignore = {"AR2"}}));
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

TEST(SettingsTest, ValuesAndWhereTheyStand) {
  const auto settings = Read("conf/allranks.toml",
                             "select = ['AR1']\nignore = ['AR105']\nexclude = ['third_party/']\n"
                             "knowledge = ['ours.toml', '/abs.toml']\nroot = '..'\nfail-on = 'error'\n"
                             "[per-file-ignores]\n'tests/' = ['AR3']\n[severity]\nAR4 = 'info'\n[world]\nnodes = 1\n");
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_THAT(settings->select, ElementsAre("AR1"));
  EXPECT_THAT(settings->ignore, ElementsAre("AR105"));
  EXPECT_EQ(settings->exclude, (Patterns{{"third_party/", "conf"}}));
  EXPECT_THAT(settings->knowledge, ElementsAre("conf/ours.toml", "/abs.toml"));
  EXPECT_EQ(settings->per_file_ignores, (PerFileIgnores{{{"tests/", "conf"}, {"AR3"}}}));
  EXPECT_EQ(settings->severity, (SeverityChoices{{"AR4", "info"}}));
  EXPECT_EQ(settings->world_nodes, 1u);
  EXPECT_EQ(settings->origins.at("fail-on"), "conf/allranks.toml:6");
  EXPECT_EQ(settings->origins.at("world.nodes"), "conf/allranks.toml:12");
  EXPECT_FALSE(settings->Has("min-confidence"));
}

TEST(SettingsTest, PyprojectHasATableOfItsOwn) {
  const auto settings = Read("pyproject.toml", "[project]\nname = 'x'\n[tool.allranks]\nignore = ['AR1']\n");
  ASSERT_TRUE(settings.has_value());
  EXPECT_THAT(settings->ignore, ElementsAre("AR1"));
  EXPECT_FALSE(settings->Has("select"));
}

TEST(SettingsTest, ErrorsNameThePlaceAndDrawIt) {
  EXPECT_EQ(Read("a.toml", "\nslect = []\n").error().message,
            "a.toml:2:1: unknown key `slect`; did you mean `select`?\n  2 | slect = []\n    | ^^^^^");
  EXPECT_EQ(Read("a.toml", "select = 'AR1'\n").error().message,
            "a.toml:1:10: `select` must be a list of rules\n  1 | select = 'AR1'\n    |          ^^^^^");
  EXPECT_THAT(Read("a.toml", "ignore = ['AR1',\n 1]\n").error().message, HasSubstr("a.toml:2:2: `ignore`"));
  EXPECT_THAT(Read("a.toml", "ignore = ['AR1', 'AR1O1']\n").error().message,
              HasSubstr("a.toml:1:18: no rule `AR1O1`; did you mean `AR101`?"));
  EXPECT_THAT(Read("a.toml", "fail-on = 'eror'\n").error().message,
              HasSubstr("`fail-on` must be one of error, warning, info, never; did you mean `error`?"));
  EXPECT_THAT(Read("a.toml", "[world]\nnode = 1\n").error().message, HasSubstr("a.toml:2:1: unknown key `world.node`; did you mean `world.nodes`?"));
  EXPECT_THAT(Read("a.toml", "[world]\nnodes = -1\n").error().message, HasSubstr("`world.nodes` must be a number"));
  EXPECT_THAT(Read("a.toml", "[severity]\nAR1 = 'fatal'\n").error().message, HasSubstr("`severity.AR1` must be one of"));
  EXPECT_THAT(Read("a.toml", "select = [\n").error().message, HasSubstr("a.toml:"));
  EXPECT_THAT(Read("pyproject.toml", "[project]\n").error().message, HasSubstr("no table [tool.allranks]"));
}

base::Result<Settings> ReadFrom(const std::map<std::string, std::string>& files) {
  return ReadSettings("/w/a/allranks.toml", "allranks.toml", source::MemoryFileSystem(files));
}

TEST(ExtendTest, ListsAreJoinedAndOtherValuesReplaced) {
  const auto settings = ReadFrom({{"/w/a/allranks.toml", "extend = '../base.toml'\nignore = ['AR4']\nfail-on = 'error'\n"},
                                  {"/w/base.toml", "ignore = ['AR3']\nfail-on = 'warning'\nexclude = ['x/']\n"}});
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_THAT(settings->ignore, ElementsAre("AR3", "AR4"));
  EXPECT_EQ(settings->fail_on, "error");
  EXPECT_EQ(settings->exclude, (Patterns{{"x/", "/w"}}));
  EXPECT_EQ(settings->origins.at("ignore"), "/w/base.toml:1, allranks.toml:2");
  EXPECT_EQ(settings->file, "/w/a/allranks.toml");
}

TEST(ExtendTest, SelectForgetsTheRulesChosenBelow) {
  const auto settings = ReadFrom({{"/w/a/allranks.toml", "extend = '../base.toml'\nselect = ['AR101']\n"},
                                  {"/w/base.toml", "select = ['AR2']\nignore = ['AR101']\n"}});
  EXPECT_THAT(settings->select, ElementsAre("AR101"));
  EXPECT_THAT(settings->ignore, testing::IsEmpty());
}

TEST(ExtendTest, ManyInARowAreNoCircle) {
  const auto chain_of = [](int files) {
    std::map<std::string, std::string> chain;
    for (int i = 0; i < files; ++i) {
      const std::string name = i == 0 ? "allranks" : "c" + std::to_string(i);
      chain["/w/a/" + name + ".toml"] = i + 1 == files ? "fail-on = 'error'\n" : "extend = 'c" + std::to_string(i + 1) + ".toml'\n";
    }
    return chain;
  };
  EXPECT_EQ(ReadFrom(chain_of(17)).value().fail_on, "error");
  EXPECT_EQ(ReadFrom(chain_of(64)).value().fail_on, "error");
  EXPECT_THAT(ReadFrom(chain_of(65)).error().message, HasSubstr("more than 64 files"));
}

TEST(ExtendTest, WhatLiesOutsideTheProjectIsNotShown) {
  const std::string secret = "password = 'secret'\n";
  const auto message = [&](const std::string& text) {
    return ReadFrom({{"/w/a/allranks.toml", text}, {"/w/.git/HEAD", ""}, {"/w/base.toml", secret}, {"/etc/x", secret}, {"/etc/y", "secret"}}).error().message;
  };
  EXPECT_THAT(message("extend = '../base.toml'\n"), HasSubstr("1 | password = 'secret'"));
  for (const char* file : {"/etc/x", "/etc/y"}) {
    const std::string said = message("extend = '" + std::string(file) + "'\n");
    EXPECT_THAT(said, HasSubstr(std::string(file) + ":1:"));
    EXPECT_THAT(said, HasSubstr("no configuration of allranks"));
    EXPECT_THAT(said, Not(HasSubstr("password")));
    EXPECT_THAT(said, Not(HasSubstr("secret")));
  }
}

TEST(ExtendTest, CirclesAndMissingFilesAreErrors) {
  EXPECT_THAT(ReadFrom({{"/w/a/allranks.toml", "extend = 'allranks.toml'\n"}}).error().message, HasSubstr("leads in a circle"));
  EXPECT_THAT(ReadFrom({{"/w/a/allranks.toml", "extend = 'nowhere.toml'\n"}}).error().message, HasSubstr("allranks.toml extends it"));
}

TEST(SeverityTest, TheLongestSelectorWins) {
  const rules::Rule& rule = *rules::FindRule("AR101");
  const SeverityChoices choices = {{"AR101", "warning"}, {"ALL", "error"}, {"AR1", "off"}};
  EXPECT_EQ(SeverityOf(rule, choices), findings::Severity::Warning);
  EXPECT_FALSE(IsOff(rule, choices));
  EXPECT_TRUE(IsOff(*rules::FindRule("AR104"), choices));
  EXPECT_EQ(SeverityOf(*rules::FindRule("AR104"), choices), std::nullopt);
}

TEST(PatternTest, CountsFromTheFolderOfItsFile) {
  EXPECT_EQ(FromRoot({"gen/", "/w/a"}, "/w", "/w"), "/a/**/gen/");
  EXPECT_EQ(FromRoot({"/gen", "/w/a"}, "/w", "/w"), "/a/gen");
  EXPECT_EQ(FromRoot({"!x/y.py", "a"}, ".", "/w"), "!/a/x/y.py");
  EXPECT_EQ(FromRoot({"x/y.py", "/w"}, "/w", "/w/a"), "x/y.py");
  EXPECT_EQ(FromRoot({"gen/", "/elsewhere"}, "/w", "/w"), "gen/");
}

TEST(ResolveTest, CommandLineOverFilesOverDefaults) {
  const source::MemoryFileSystem files({{"/w/.git/HEAD", ""},
                                        {"/w/allranks.toml", "ignore = ['AR101']\nmin-confidence = 'certain'\n"},
                                        {"/w/a/x.py", ""}});
  Request request{.paths = {"a/x.py"}, .working_directory = "/w", .config = {"fail-on = 'error'"}, .above = {}};
  Set(request.above, &Settings::select, "select", Texts{"AR101"}, "--select");
  const auto resolved = Resolve(request, files);
  ASSERT_TRUE(resolved.has_value()) << resolved.error().message;
  EXPECT_EQ(resolved->root, "/w");
  ASSERT_EQ(resolved->rules.size(), 1u);
  EXPECT_EQ(resolved->settings.origins.at("fail-on"), "--config:1");
  EXPECT_EQ(resolved->settings.origins.at("min-confidence"), "allranks.toml:2");
  request.isolated = true;
  EXPECT_EQ(Resolve(request, files)->settings.min_confidence, "likely");
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
  EXPECT_EQ(FindRoot({"."}, "/nowhere", bare), "/nowhere");
}

TEST(ProjectTest, ReportsNameFilesFromTheRepositoryElseFromHere) {
  const source::MemoryFileSystem repository({{"/w/.git/HEAD", ""}, {"/w/a/pyproject.toml", ""}, {"/w/a/x.py", ""}});
  EXPECT_EQ(FindRepository("/w/a", "/w/a", repository), "/w");
  const source::MemoryFileSystem nested({{"/w/a/pyproject.toml", ""}, {"/w/a/x.py", ""}});
  EXPECT_EQ(FindRepository("/w/a", "/w", nested), "/w");
  EXPECT_EQ(FindRepository("/w/a", "/w/a", nested), "/w/a");
  EXPECT_EQ(FindRepository("/w/a", "/v", nested), "/w/a");
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
