#include "analyzer/toml/parse.h"

#include <gtest/gtest.h>

#include <string>

namespace allranks::toml_files {
namespace {

// Line and column of what is refused; 0: nothing is.
std::pair<uint32_t, uint32_t> RefusedAt(const std::string& text) {
  try {
    const toml::table ignored = Parse(text);
  } catch (const toml::parse_error& error) {
    return {error.source().begin.line, error.source().begin.column};
  }
  return {};
}

std::string Dotted(size_t dots, const std::string& part = "a") {
  std::string key = part;
  for (size_t i = 0; i < dots; ++i) key += "." + part;
  return key;
}

using Place = std::pair<uint32_t, uint32_t>;

TEST(TomlParseTest, KeysHaveSoManyDots) {
  EXPECT_EQ(RefusedAt(Dotted(64) + " = 1\n"), Place());
  EXPECT_EQ(RefusedAt("x = 1\n" + Dotted(65) + " = 1\n"), Place(2, 130));
  for (const char* part : {"a", "\"a\"", "'a'", " a "}) {
    const std::string deep = Dotted(200'000, part);
    for (const std::string& text : {deep + "=1", "[" + deep + "]", "[[" + deep + "]]", "x = {" + deep + "=1}", "x = [{y = 1, " + deep + "=1}]"}) {
      EXPECT_EQ(RefusedAt(text).first, 1u) << text.substr(0, 20);
    }
  }
}

TEST(TomlParseTest, OtherDotsDoNotCount) {
  const std::string dots(1000, '.');
  const std::string quotes = R"(x = "\")" + dots + R"(\\"  # )" + dots + "\n";
  EXPECT_EQ(RefusedAt(quotes + "y = '" + dots + "\\'\n"), Place());
  EXPECT_EQ(RefusedAt("x = \"\"\"\n" + dots + "\n\\\"\"\"" + dots + "\"\"\"\"\"\ny = '''\n" + dots + "''" + dots + "'''\n"), Place());
  std::string floats = "x = [0.5";
  for (int i = 0; i < 1000; ++i) floats += ", 0.5";
  EXPECT_EQ(RefusedAt(floats + "]\n"), Place());
  // A string that ends with its line hides nothing that stands below.
  EXPECT_EQ(RefusedAt("x = \"\n" + Dotted(200'000) + " = 1\n").first, 2u);
}

TEST(TomlParseTest, SoLargeAndNoLarger) {
  const std::string comment(size_t{1} << 20, '#');
  EXPECT_EQ(RefusedAt(comment), Place());
  EXPECT_EQ(RefusedAt(comment + "#"), Place(1, 1));
}

}  // namespace
}  // namespace allranks::toml_files
