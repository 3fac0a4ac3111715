#include "analyzer/base/json_problem.h"

#include <gtest/gtest.h>

namespace allranks::base {
namespace {

TEST(JsonProblemTest, LeavesOutTheNumberOfTheError) {
  EXPECT_EQ(JsonProblem("[json.exception.parse_error.101] parse error at line 1, column 2: no"), "parse error at line 1, column 2: no");
}

TEST(JsonProblemTest, QuotesNoPicture) {
  const std::string picture(1'000'000, 'A');
  EXPECT_EQ(JsonProblem("[json.exception.parse_error.101] invalid string: missing closing quote; last read: '\"" + picture + "'"),
            "invalid string: missing closing quote");
}

TEST(JsonProblemTest, CutsBetweenCharacters) {
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "\u00fc";
  EXPECT_EQ(JsonProblem("x" + umlauts), "x" + umlauts.substr(0, 158) + "...");
}

}  // namespace
}  // namespace allranks::base
