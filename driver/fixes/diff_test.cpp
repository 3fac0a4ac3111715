#include "driver/fixes/diff.h"

#include <gtest/gtest.h>

namespace allranks::fixes {
namespace {

TEST(Diff, NothingForEqualTexts) { EXPECT_EQ(UnifiedDiff("a.py", "x\n", "x\n"), ""); }

TEST(Diff, OneLineWithItsContext) {
  EXPECT_EQ(UnifiedDiff("a.py", "1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nfive\n6\n7\n8\n"),
            "--- a.py\n+++ a.py\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(Diff, ChangesFarApartAreTwoHunks) {
  const std::string before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
  const std::string after = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n13\n";
  EXPECT_EQ(UnifiedDiff("a.py", before, after),
            "--- a.py\n+++ a.py\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -9,4 +10,4 @@\n 9\n 10\n 11\n-12\n+13\n");
}

TEST(Diff, LastLineWithoutEnd) {
  EXPECT_EQ(UnifiedDiff("a.py", "x", "y"),
            "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n");
}

TEST(Diff, IntoAnEmptyFile) {
  EXPECT_EQ(UnifiedDiff("a.py", "", "x\n"), "--- a.py\n+++ a.py\n@@ -0,0 +1 @@\n+x\n");
}

// As `git diff` writes it, and `patch` reads it.
TEST(Diff, NamesThatCouldEndTheirLineAreQuoted) {
  EXPECT_TRUE(UnifiedDiff("ä b.py", "x\n", "y\n").starts_with("--- ä b.py\n+++ ä b.py\n"));
  EXPECT_TRUE(UnifiedDiff("a\n\"\x1b\xc2\x9b.py", "x\n", "y\n").starts_with("--- \"a\\012\\\"\\033\\302\\233.py\"\n+++ \"a"));
}

}  // namespace
}  // namespace allranks::fixes
