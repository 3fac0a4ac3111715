#include "frontends/launch/python_formats.h"

#include <gtest/gtest.h>

namespace allranks::launch_files {
namespace {

using launch::Word;

Word Of(const std::string& text) { return Word(launch::Piece{.text = text, .origin = {}}); }

// The first value is `8`, the one called `name` is `x`; of others nothing is known.
std::optional<Word> Value(std::string_view name, size_t index) {
  if (name == "name") return Of("x");
  return name.empty() && index == 0 ? std::optional(Of("8")) : std::nullopt;
}
std::string Percents(const std::string& pattern) { return WithPercents(Of(pattern), Value, Of("?")).text(); }
std::string Braces(const std::string& pattern) { return WithBraces(Of(pattern), Value, Of("?")).text(); }

TEST(PythonFormats, Percents) {
  EXPECT_EQ(Percents("-n %d %s.py 100%%"), "-n 8 ?.py 100%");
  EXPECT_EQ(Percents("%(name)s %(other)s %(name)5s"), "x ? ?");
  EXPECT_EQ(Percents("%02d %s"), "? ?");
  EXPECT_EQ(Percents("no place"), "no place");
  EXPECT_EQ(Percents(""), "");
  for (const char* cut : {"%", "a %", "%(", "%(x", "%(x)", "%-"}) EXPECT_FALSE(Percents(cut).empty()) << cut;
}

TEST(PythonFormats, Braces) {
  EXPECT_EQ(Braces("-n {} {}"), "-n 8 ?");
  EXPECT_EQ(Braces("{0} {1} {0}"), "8 ? 8");
  EXPECT_EQ(Braces("{name} {name.y} {name:>3} {name!r}"), "x ? ? ?");
  EXPECT_EQ(Braces("{{{}}} }}"), "{8} }");
  for (const char* cut : {"{", "a {x", "}", "{0"}) (void)Braces(cut);
}

}  // namespace
}  // namespace allranks::launch_files
