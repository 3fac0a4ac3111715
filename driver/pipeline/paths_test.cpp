#include "driver/pipeline/paths.h"

#include <gtest/gtest.h>

namespace allranks::pipeline {
namespace {

TEST(PathsTest, Normalized) {
  EXPECT_EQ(Normalized("./a//b/../c/"), "a/c");
  EXPECT_EQ(Normalized("../a"), "../a");
  EXPECT_EQ(Normalized("/a/../../b"), "/b");
  EXPECT_EQ(Normalized("."), "");
}

TEST(PathsTest, IsInside) {
  EXPECT_TRUE(IsInside("a/b", "a"));
  EXPECT_TRUE(IsInside("a", "a"));
  EXPECT_FALSE(IsInside("ab", "a"));
  EXPECT_TRUE(IsInside("a", ""));
  EXPECT_FALSE(IsInside("/a", ""));
  EXPECT_TRUE(IsInside("/a", "/"));
}

struct Case {
  const char* root;
  const char* working_directory;
  const char* given;
  const char* relative;
  const char* shown;
};

TEST(PathMapTest, BothWays) {
  const Case cases[] = {
      {".", "/p", "a.py", "a.py", "a.py"},
      {"/p", "/p", "./x/../a.py", "a.py", "a.py"},
      {"/p", "/p/sub", "a.py", "sub/a.py", "a.py"},
      {"/p/sub", "/p", "sub/a.py", "a.py", "sub/a.py"},
      {"/p/sub", "/p", "sub", "", "sub"},
      {"..", "/p/sub", "../b.py", "b.py", "../b.py"},
      {"/p", "/p/sub/deep", "../b.py", "sub/b.py", "../../sub/b.py"},
      {"/p", "/p", "/p/x/a.py", "x/a.py", "x/a.py"},
      {"/q", "/p", "/q/a.py", "a.py", "/q/a.py"},
      {"../q", "/p", "../q/a.py", "a.py", "../q/a.py"},
      {"/p", "/p", "/elsewhere/a.py", "/elsewhere/a.py", "/elsewhere/a.py"},
      {"/", "/p", "a.py", "p/a.py", "a.py"},
      {"/p", "/p/sub", ".", "sub", "."},
      {"/p", "/p/sub", "..", "", ".."},
      {"/p", "/p", ".", "", "."},
      {".", "", "a/b.py", "a/b.py", "a/b.py"},
  };
  for (const Case& c : cases) {
    const PathMap map(c.root, c.working_directory);
    EXPECT_EQ(map.Relative(c.given), c.relative) << c.root << " " << c.given;
    EXPECT_EQ(map.Shown(c.relative), c.shown) << c.root << " " << c.given;
  }
}

}  // namespace
}  // namespace allranks::pipeline
