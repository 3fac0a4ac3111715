#include "frontends/cpp/nesting.h"

#include <gtest/gtest.h>

#include <string>

namespace allranks::cpp {
namespace {

TEST(NestingTest, StatementsWithoutBraces) {
  EXPECT_EQ(NestingOf("int x = f(1);"), 0);
  EXPECT_EQ(NestingOf("if (a) if (b) for (int i = 0; i < 3; ++i) f();"), 3);
  EXPECT_EQ(NestingOf("if (a) f(); if (b) g(); while (c) h();"), 1);
  EXPECT_EQ(NestingOf("if (a) { if (b) { if (c) f(); } }"), 1);
}

TEST(NestingTest, ChainsOfElse) {
  EXPECT_EQ(NestingOf("if (a) f(); else if (b) g(); else if (c) h(); else i(); if (d) j();"), 3);
  EXPECT_EQ(NestingOf("if (a) { f(); } else if (b) { g(); } x(); if (c) { h(); }"), 2);
}

TEST(NestingTest, WordsInTextsAndCommentsAreNone) {
  EXPECT_EQ(NestingOf("f(\"if if if\", 'i'); // if if\n/* if if */ g(R\"x(if \" if)x\"); int n = 1'000; if (n) h();"), 1);
  EXPECT_EQ(NestingOf("#if A \\\n if if\n#endif\nif (a) f();"), 1);
}

TEST(NestingTest, TextThatEndsAnywhere) {
  const std::string text = "if (a) \"b\\\" R\"x(c)x\" /* */ 'd' }} { ( ;";
  for (size_t size = 0; size <= text.size(); ++size) EXPECT_LE(NestingOf(text.substr(0, size)), 1);
}

}  // namespace
}  // namespace allranks::cpp
