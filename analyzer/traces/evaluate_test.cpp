#include "analyzer/traces/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allranks::traces {
namespace {

using knowledge::Coordinate;
using variation::ValueKind;

class EvaluateTest : public ::testing::Test {
 protected:
  ValueId Rank() { return values.Coordinate(Coordinate::Rank); }
  ValueId LocalRank() { return values.Coordinate(Coordinate::LocalRank); }
  ValueId Is(ValueId left, int64_t right) { return values.Compare(ir::CompareOp::Eq, left, values.Int(right)); }
  ValueId CreatedGroup(ValueId ranks) {
    return values.Make(variation::Value::Group(variation::GroupKind::Created, 7),
                       {&ranks, 1});
  }
  // Which ranks find the condition true; "?" where it is not known.
  std::string Truths(ValueId condition) {
    Evaluator evaluator(values, knowledge, world, assignment);
    std::string text;
    for (uint32_t rank = 0; rank < world.size(); ++rank) {
      const std::optional<bool> truth = evaluator.Truth(condition, rank);
      text += !truth ? '?' : *truth ? '1' : '0';
    }
    return text;
  }

  base::Interner names;
  knowledge::Knowledge knowledge{names};
  variation::ValueStore values;
  World world{.nodes = 2, .per_node = 2, .mesh = {}};
  Assignment assignment;
};

// Without a memory of what is known, 2 to the 35 steps.
TEST_F(EvaluateTest, PartsThatAreSharedAreEvaluatedOnce) {
  ValueId doubled = Rank();
  for (int i = 0; i < 35; ++i) doubled = values.Binary(ir::BinaryOp::BitOr, doubled, doubled);
  EXPECT_EQ(Truths(Is(doubled, 3)), "0001");
}

TEST_F(EvaluateTest, PredicatesOnCoordinates) {
  EXPECT_EQ(Truths(Is(Rank(), 0)), "1000");
  EXPECT_EQ(Truths(Is(LocalRank(), 0)), "1010");
  EXPECT_EQ(Truths(values.Not(Is(Rank(), 0))), "0111");
  EXPECT_EQ(Truths(Is(values.Binary(ir::BinaryOp::Mod, Rank(), values.Int(2)), 0)), "1010");
  EXPECT_EQ(Truths(values.Compare(ir::CompareOp::Less, Rank(), values.Coordinate(Coordinate::WorldSize))), "1111");
}

TEST_F(EvaluateTest, MinusOneIsTheRankOfAJobWithoutRanks) {
  const ValueId items[] = {values.Int(-1), values.Int(0)};
  const ValueId tuple = values.Tuple(items);
  EXPECT_EQ(Truths(values.Compare(ir::CompareOp::In, LocalRank(), tuple)), "1010");
  EXPECT_EQ(Truths(values.Compare(ir::CompareOp::NotIn, LocalRank(), tuple)), "0101");
}

TEST_F(EvaluateTest, WhatIsMadeOfAListOfNumbers) {
  const auto call = [&](std::string_view name, ValueId argument) {
    const uint32_t symbol = values.NewSymbol();
    values.SetOperation(symbol, names.Intern(name));
    return values.Derived(symbol, {&argument, 1});
  };
  const ValueId range = call("builtins.range", Rank());
  EXPECT_EQ(Truths(Is(call("builtins.len", range), 2)), "0010");
  EXPECT_EQ(Truths(Is(call("builtins.sum", range), 1)), "0010");
  EXPECT_EQ(Truths(call("builtins.any", range)), "0011");
  EXPECT_EQ(Truths(call("builtins.all", range)), "1000");
  // The largest of nothing is an error.
  EXPECT_EQ(Truths(Is(call("builtins.max", range), 1)), "?010");
}

TEST_F(EvaluateTest, ThreeValuedConnectives) {
  const ValueId unknown = values.Fresh({});
  const ValueId conjunction[] = {unknown, Is(Rank(), 0)};
  EXPECT_EQ(Truths(values.And(conjunction)), "?000");
  EXPECT_EQ(Truths(values.Or(conjunction)), "1???");
}

TEST_F(EvaluateTest, AssignedUnknownsAreTheSameOnAllRanks) {
  const ValueId master = values.Fresh({});
  const ValueId condition = values.Compare(ir::CompareOp::Eq, Rank(), master);
  EXPECT_EQ(Truths(condition), "????");
  assignment[master.index] = 1;
  EXPECT_EQ(Truths(condition), "0100");
}

TEST_F(EvaluateTest, UnknownPartsAreTheSmallestThatDecide) {
  const ValueId flag = values.Fresh({});
  const ValueId mode = values.Compare(ir::CompareOp::Eq, values.Fresh({}), values.Str(names.Intern("train")));
  const ValueId kids[] = {flag, mode, Is(Rank(), 0)};
  Evaluator evaluator(values, knowledge, world, assignment);
  std::vector<ValueId> parts;
  evaluator.UnknownParts(values.And(kids), &parts);
  EXPECT_THAT(parts, ::testing::UnorderedElementsAre(flag, mode));
}

TEST_F(EvaluateTest, WhatVariesWithTheRankIsNotAssigned) {
  const ValueId kids[] = {values.Fresh(knowledge::Axes::Of(Axis::Global)), Is(Rank(), 0)};
  Evaluator evaluator(values, knowledge, world, assignment);
  std::vector<ValueId> parts;
  evaluator.UnknownParts(values.And(kids), &parts);
  EXPECT_TRUE(parts.empty());
}

TEST_F(EvaluateTest, MembershipOfRanksAndOfTheGroupMadeOfThemAgree) {
  const ValueId ranks = values.Fresh({});
  EXPECT_EQ(Truths(values.Compare(ir::CompareOp::In, Rank(), ranks)), "1010");
  EXPECT_EQ(Truths(values.Compare(ir::CompareOp::IsNot, CreatedGroup(ranks), values.NoneValue())), "1010");
}

TEST_F(EvaluateTest, GroupOfConstantRanks) {
  const ValueId items[] = {values.Int(0), values.Int(1)};
  const ValueId group = CreatedGroup(values.Tuple(items));
  Evaluator evaluator(values, knowledge, world, assignment);
  const GroupInfo& info = evaluator.group(evaluator.Group(group, 0));
  EXPECT_TRUE(info.has_known_ranks);
  EXPECT_EQ(info.members[1], RankSet::Of(0) | RankSet::Of(1));
  EXPECT_TRUE(info.members[2].empty());
}

TEST_F(EvaluateTest, GroupThatIsNotKnownIsAGuess) {
  Evaluator evaluator(values, knowledge, world, assignment);
  EXPECT_FALSE(evaluator.group(evaluator.Group(ValueId::None(), 0)).is_guess);
  EXPECT_FALSE(evaluator.group(evaluator.Group(values.NoneValue(), 0)).is_guess);
  EXPECT_TRUE(evaluator.group(evaluator.Group(values.Fresh({}), 0)).is_guess);
}

TEST_F(EvaluateTest, ScaledSizesTellWhatHoldsOfSmallJobsOnly) {
  const ValueId at_least = values.Compare(ir::CompareOp::GreaterEq, values.Coordinate(Coordinate::WorldSize), values.Int(8));
  Evaluator evaluator(values, knowledge, world, assignment);
  EXPECT_EQ(evaluator.Truth(at_least, 0), std::optional<bool>(false));
  evaluator.ScaleSizes(8);
  EXPECT_EQ(evaluator.Truth(at_least, 0), std::optional<bool>(true));
}

// `for ranks in [[0, 1], [2, 3]]: group = new_group(ranks); if rank in ranks: mine = group`
TEST_F(EvaluateTest, AFamilyOfWrittenListsHasTheseMembers) {
  const ValueId first[] = {values.Int(0), values.Int(1)};
  const ValueId second[] = {values.Int(2), values.Int(3)};
  const ValueId lists[] = {values.Tuple(first), values.Tuple(second)};
  const ValueId ranks = values.Symbol(values.NewSymbol(), {});
  const ValueId parts[] = {ranks, ranks, values.Tuple(lists)};
  const ValueId made = values.Make(variation::Value::Group(variation::GroupKind::Created, 7), parts);
  const ValueId mine = values.Select(values.Compare(ir::CompareOp::In, Rank(), ranks), made, values.NoneValue());
  Evaluator evaluator(values, knowledge, world, assignment);
  const GroupInfo& group = evaluator.group(evaluator.Group(mine, 2));
  EXPECT_EQ(group.members[2], RankSet::Of(2) | RankSet::Of(3));
  EXPECT_TRUE(group.has_known_ranks);
}

}  // namespace
}  // namespace allranks::traces
