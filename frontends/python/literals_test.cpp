#include <gtest/gtest.h>

#include <optional>

#include "frontends/python/number.h"
#include "frontends/python/string_literal.h"

namespace allranks::python {
namespace {

TEST(NumberTest, Integers) {
  EXPECT_EQ(IntegerValue("0"), 0);
  EXPECT_EQ(IntegerValue("1_000_000"), 1'000'000);
  EXPECT_EQ(IntegerValue("0xDEAD_beef"), 0xdeadbeef);
  EXPECT_EQ(IntegerValue("0O17"), 15);
  EXPECT_EQ(IntegerValue("0b1_01"), 5);
  EXPECT_EQ(IntegerValue("10L"), 10);
  EXPECT_EQ(IntegerValue("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(IntegerValue("9223372036854775808"), std::nullopt);
  EXPECT_EQ(IntegerValue("0xffffffffffffffff"), std::nullopt);
  EXPECT_EQ(IntegerValue("99999999999999999999999999"), std::nullopt);
}

TEST(NumberTest, Complex) {
  EXPECT_TRUE(IsComplexLiteral("2j"));
  EXPECT_TRUE(IsComplexLiteral("1.5J"));
  EXPECT_FALSE(IsComplexLiteral("10"));
}

std::string Decoded(std::string_view source, StringPrefix prefix = {}) {
  LiteralText text;
  text.Add(source, prefix);
  return text.too_long() ? "(too long)" : text.text();
}

TEST(StringLiteralTest, Prefixes) {
  EXPECT_TRUE(PrefixOf("Rb'''").bytes);
  EXPECT_TRUE(PrefixOf("Rb'''").raw);
  EXPECT_TRUE(PrefixOf("fr\"").format);
  EXPECT_FALSE(PrefixOf("u\"").raw);
}

TEST(StringLiteralTest, Escapes) {
  EXPECT_EQ(Decoded(R"(a\n\t\\\'\"\a\b\f\r\v)"), "a\n\t\\'\"\a\b\f\r\v");
  EXPECT_EQ(Decoded(R"(\0\101\x41\u00e9\U0001F600)"), std::string("\0AA\xc3\xa9\xf0\x9f\x98\x80", 9));
  EXPECT_EQ(Decoded("a\\\nb\\\r\nc\r\nd\re"), "abc\nd\ne");
  EXPECT_EQ(Decoded(R"(\q\ud800\U00110000)"), "\\q\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(Decoded(R"(\x4)"), "\x04");
  EXPECT_EQ(Decoded("a\\"), "a\\");
  EXPECT_EQ(Decoded(R"(\N{DASH}b)"),
            "\xef\xbf\xbd"
            "b");
}

TEST(StringLiteralTest, Kinds) {
  EXPECT_EQ(Decoded(R"(\n)", {.raw = true}), "\\n");
  EXPECT_EQ(Decoded(R"(\xff\u0041)", {.bytes = true}), "\xff\\u0041");
  EXPECT_EQ(Decoded("{{a}}", {.format = true}), "{a}");
  EXPECT_EQ(Decoded("{{a}}"), "{{a}}");
}

TEST(StringLiteralTest, Length) {
  EXPECT_EQ(Decoded(std::string(256, 'a')), std::string(256, 'a'));
  EXPECT_EQ(Decoded(std::string(257, 'a')), "(too long)");
  std::string escaped;
  for (int i = 0; i < 100; ++i) escaped += "\\x41";
  EXPECT_EQ(Decoded(escaped), std::string(100, 'A'));
  LiteralText pieces;
  pieces.Add(std::string(200, 'a'), {});
  pieces.Add(std::string(57, 'b'), {});
  EXPECT_TRUE(pieces.too_long());
  EXPECT_FALSE(pieces.empty());
}

}  // namespace
}  // namespace allranks::python
