#include "analyzer/findings/assumption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace allranks::findings {
namespace {

using ::testing::ElementsAre;

TEST(AssumptionsTest, JoinIsIdempotentCommutativeAndAssociative) {
  const Assumptions a = Assumptions::Of(Assumption::ByNameOnly);
  const Assumptions b = Assumptions::Of(Assumption::BatchDiffers);
  const Assumptions c = Assumptions::Of(Assumption::BoundReached);
  EXPECT_EQ(a | a, a);
  EXPECT_EQ(a | b, b | a);
  EXPECT_EQ((a | b) | c, a | (b | c));
  EXPECT_EQ(a | Assumptions(), a);
}

TEST(AssumptionsTest, ListsInTheOrderOfTheCatalogue) {
  Assumptions set;
  EXPECT_TRUE(set.empty());
  set.Add(Assumption::BoundReached);
  set.Add(Assumption::ByNameOnly);
  EXPECT_THAT(set.List(), ElementsAre(Assumption::ByNameOnly, Assumption::BoundReached));
}

TEST(AssumptionsTest, NothingAssumedIsCertain) { EXPECT_EQ(ConfidenceOf({}), Confidence::Certain); }

TEST(AssumptionsTest, WeightsDecideBetweenLikelyAndPossible) {
  EXPECT_EQ(ConfidenceOf(Assumptions::Of(Assumption::ByNameOnly)), Confidence::Likely);
  EXPECT_EQ(ConfidenceOf(Assumptions::Of(Assumption::GroupUnknown)), Confidence::Possible);
}

// A further assumption never makes anything surer, and no single one leaves a finding certain.
TEST(AssumptionsTest, ConfidenceOnlyFallsAsAssumptionsAccumulate) {
  Assumptions every;
  for (uint32_t i = 0; i < 32; ++i) every.Add(static_cast<Assumption>(i));
  Assumptions set;
  Confidence before = ConfidenceOf(set);
  for (const Assumption assumption : every.List()) {
    EXPECT_LT(ConfidenceOf(Assumptions::Of(assumption)), Confidence::Certain) << NameOf(assumption);
    set.Add(assumption);
    EXPECT_LE(ConfidenceOf(set), before);
    before = ConfidenceOf(set);
  }
}

TEST(AssumptionsTest, NamesAreUnique) {
  Assumptions every;
  for (uint32_t i = 0; i < 32; ++i) every.Add(static_cast<Assumption>(i));
  std::set<std::string_view> names;
  for (const Assumption assumption : every.List()) {
    EXPECT_TRUE(names.insert(NameOf(assumption)).second) << NameOf(assumption);
    EXPECT_FALSE(ClauseOf(assumption).empty());
  }
}

}  // namespace
}  // namespace allranks::findings
