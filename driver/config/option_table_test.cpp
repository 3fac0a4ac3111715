#include "driver/config/option_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace allranks::config {
namespace {

using testing::HasSubstr;

std::string ReadPage(const std::string& name) {
  const std::ifstream file(std::string(ALLRANKS_SOURCE_DIR) + "/docs/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(OptionTableTest, EveryOptionIsSaidInFull) {
  std::set<std::string_view> keys;
  for (const Option& option : AllOptions()) {
    EXPECT_TRUE(keys.insert(option.key).second) << option.key;
    EXPECT_FALSE(option.summary.empty() || option.summary.ends_with('.')) << option.key;
    EXPECT_TRUE(option.text.ends_with('.')) << option.key;
    EXPECT_EQ(option.kind == Kind::Choice, !option.choices.empty()) << option.key;
  }
}

TEST(OptionTableTest, DefaultsAreWhatIsSaid) {
  for (const Option& option : AllOptions()) EXPECT_EQ(ValueText(option, Settings{}), option.default_value) << option.key;
}

TEST(OptionTableTest, ExamplesAreReadAndChangeTheirOption) {
  for (const Option& option : AllOptions()) {
    if (option.key == "extend") continue;
    const auto settings = ReadInlineSettings(std::string(option.example));
    ASSERT_TRUE(settings.has_value()) << settings.error().message;
    EXPECT_TRUE(settings->Has(option.key)) << option.key;
    EXPECT_NE(ValueText(option, *settings), option.default_value) << option.key;
  }
}

// Every member of Settings is some option's: what is shown can be read again and is the same.
TEST(OptionTableTest, ShownSettingsAreReadAgain) {
  std::string text;
  for (const Option& option : AllOptions()) {
    if (option.key != "extend" && !option.example.starts_with('[')) text += std::string(option.example) + "\n";
  }
  Settings settings = *ReadInlineSettings(text + "[per-file-ignores]\n'a\"b/' = ['AR1']\n[severity]\nAR4 = 'info'\n[world]\nnodes = 1\ndevices = 8\n");
  const std::string shown = SettingsText(settings);
  base::Result<Settings> again = ReadInlineSettings(shown);
  ASSERT_TRUE(again.has_value()) << again.error().message << "\n" << shown;
  again->origins = settings.origins;
  EXPECT_EQ(*again, settings);
}

TEST(OptionTableTest, TheSchemaKnowsEveryKey) {
  const nlohmann::json schema = nlohmann::json::parse(OptionSchema());
  for (const Option& option : AllOptions()) {
    const size_t dot = option.key.find('.');
    nlohmann::json at = schema["properties"][std::string(option.key.substr(0, dot))];
    if (dot != std::string_view::npos) at = at["properties"][std::string(option.key.substr(dot + 1))];
    EXPECT_THAT(at.value("description", ""), HasSubstr(std::string(option.summary))) << option.key;
  }
}

TEST(OptionTableTest, ThePagesAreFresh) {
  EXPECT_EQ(ReadPage("options.md"), OptionPage()) << "run tools/update_rule_docs";
  EXPECT_EQ(ReadPage("allranks.schema.json"), OptionSchema()) << "run tools/update_rule_docs";
}

}  // namespace
}  // namespace allranks::config
