#include "analyzer/traces/analyze.h"

#include <gtest/gtest.h>

namespace allranks::traces {
namespace {

source::Span At(uint32_t begin) { return {source::FileId{0}, begin, begin + 1}; }

Difference Of(uint32_t condition, uint32_t place, uint32_t culprit) {
  Difference difference;
  difference.condition = At(condition);
  difference.place = At(place);
  difference.culprit.span = At(culprit);
  return difference;
}

TEST(KeepInnermostTest, OneFindingForSeveralOperationsOfOneCall) {
  const std::vector<Difference> kept = KeepInnermost({Of(1, 2, 3), Of(1, 2, 4), Of(1, 5, 4)});
  ASSERT_EQ(kept.size(), 1u) << "a caller shows the second operation again";
  EXPECT_EQ(kept[0].culprit.span, At(3));
}

TEST(KeepInnermostTest, AnotherConditionIsAnotherDefect) {
  EXPECT_EQ(KeepInnermost({Of(1, 2, 3), Of(6, 2, 3)}).size(), 2u);
}

TEST(DifferenceWordsTest, GroupsOfOneNameAreEqual) {
  const OpGroup tensor{.kind = variation::GroupKind::AxisGroup, .axis = Axis::TensorParallel};
  EXPECT_EQ(NameOf({}), "the default group");
  EXPECT_EQ(NameOf(tensor), "the tensor parallel group");
  EXPECT_EQ(NameOf({.kind = variation::GroupKind::Unknown}), "a group");
  EXPECT_NE(tensor, OpGroup{});
}

TEST(DifferenceWordsTest, ExitsAsTheSourceSaysThem) {
  EXPECT_EQ(ToString(ExitWord::Return), "return");
  EXPECT_EQ(ToString(ExitWord::Process), "sys.exit");
}

}  // namespace
}  // namespace allranks::traces
