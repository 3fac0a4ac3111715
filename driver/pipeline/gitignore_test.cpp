#include "driver/pipeline/gitignore.h"

#include <gtest/gtest.h>

namespace allranks::pipeline {
namespace {

// tests/cli/gitignore_test.py compares whole trees with git itself; these are the cases worth naming.
TEST(GitignoreTest, Names) {
  EXPECT_TRUE(MatchName("*.py", "a.py"));
  EXPECT_FALSE(MatchName("*.py", "a.pyc"));
  EXPECT_TRUE(MatchName("a?c", "abc"));
  EXPECT_TRUE(MatchName("[a-c][!x]", "by"));
  EXPECT_FALSE(MatchName("[a-c][!x]", "bx"));
  EXPECT_TRUE(MatchName("[]]", "]"));
  EXPECT_TRUE(MatchName("[[:digit:]]x", "7x"));
  EXPECT_TRUE(MatchName("\\*", "*"));
  EXPECT_FALSE(MatchName("\\*", "a"));
  EXPECT_FALSE(MatchName("[a", "a"));
  EXPECT_TRUE(MatchName("*a*b*c*", "xxaxxbxxc"));
}

TEST(GitignoreTest, ManyStarsStayFast) {
  std::string glob;
  for (int i = 0; i < 40; ++i) glob += "*a";
  EXPECT_FALSE(MatchName(glob + "b", std::string(2000, 'a')));
  std::string path;
  for (int i = 0; i < 200; ++i) path += "a/";
  EXPECT_FALSE(MatchPath("**/a/**/a/**/a/**/a/**/b", path + "c"));
}

TEST(GitignoreTest, Paths) {
  EXPECT_TRUE(MatchPath("a/*.py", "a/b.py"));
  EXPECT_FALSE(MatchPath("a/*.py", "a/b/c.py"));
  EXPECT_TRUE(MatchPath("**/b", "b"));
  EXPECT_TRUE(MatchPath("**/b", "a/x/b"));
  EXPECT_TRUE(MatchPath("a/**/b", "a/b"));
  EXPECT_TRUE(MatchPath("a/**/b", "a/x/y/b"));
  EXPECT_TRUE(MatchPath("a/**", "a/x"));
  EXPECT_FALSE(MatchPath("a/**", "a"));
}

TEST(GitignoreTest, TheLastPatternThatSpeaksWins) {
  const IgnoreFile file("*.py\n!keep.py\n");
  EXPECT_EQ(file.Ignores("a.py", false), true);
  EXPECT_EQ(file.Ignores("sub/keep.py", false), false);
  EXPECT_EQ(file.Ignores("a.txt", false), std::nullopt);
}

TEST(GitignoreTest, SlashesAnchor) {
  const IgnoreFile file("/top.py\nbuild/\ndoc/x.py\n");
  EXPECT_EQ(file.Ignores("top.py", false), true);
  EXPECT_EQ(file.Ignores("sub/top.py", false), std::nullopt);
  EXPECT_EQ(file.Ignores("sub/build", true), true);
  EXPECT_EQ(file.Ignores("sub/build", false), std::nullopt);
  EXPECT_EQ(file.Ignores("doc/x.py", false), true);
  EXPECT_EQ(file.Ignores("sub/doc/x.py", false), std::nullopt);
}

TEST(GitignoreTest, CommentsSpacesAndLineEnds) {
  const IgnoreFile file("\xef\xbb\xbf" "first\r\n# comment\n\\#hash\n\\!bang\ntrailing  \nkept\\ \n\n/\n!\n");
  EXPECT_EQ(file.Ignores("first", false), true);
  EXPECT_EQ(file.Ignores("# comment", false), std::nullopt);
  EXPECT_EQ(file.Ignores("#hash", false), true);
  EXPECT_EQ(file.Ignores("!bang", false), true);
  EXPECT_EQ(file.Ignores("trailing", false), true);
  EXPECT_EQ(file.Ignores("kept ", false), true);
}

}  // namespace
}  // namespace allranks::pipeline
