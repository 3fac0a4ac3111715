#include "analyzer/variation/rounds.h"

#include "analyzer/variation/program_test.h"

namespace allranks::variation {
namespace {

class RoundsTest : public ProgramTest {
 protected:
  // The first loop of a file that has no other in front of it.
  const ir::Stmt& Loop() {
    for (uint32_t i = 0; i < module().stmts.size(); ++i) {
      const ir::Stmt& stmt = module()[ir::StmtId{i}];
      if (stmt.kind == ir::StmtKind::For || stmt.kind == ir::StmtKind::While) return stmt;
    }
    ADD_FAILURE() << "no loop";
    return module()[ir::StmtId{0}];
  }
  // Of a loop of `run`, whose first variable holds this.
  ValueId CountedDownFrom(ValueId initial) {
    const Scope& scope = tables().ScopeOf(Function("run"));
    const std::vector<ValueId> slots(scope.names.size(), initial);
    return CountedDown(module(), scope, store(), Loop(), slots);
  }
  // Of a loop of `run`, whose variables begin with 0, and in whose steps and ends each name stands for this.
  ValueId CountedFromZero(ValueId named) {
    const Scope& scope = tables().ScopeOf(Function("run"));
    const std::vector<ValueId> slots(scope.names.size(), store().Int(0));
    base::IdVector<ir::ExprId, ValueId> values;
    for (uint32_t i = 0; i < module().exprs.size(); ++i) {
      const ir::Expr& expr = module()[ir::ExprId{i}];
      const bool is_number = expr.kind == ir::ExprKind::Constant && ir::ConstantKindOf(expr) == ir::ConstantKind::Int;
      values.Add(is_number ? store().Int(ir::IntOf(expr)) : named);
    }
    return CountedTo(module(), scope, store(), values, Loop(), slots);
  }
  ValueId Rank() { return store().Coordinate(knowledge::Coordinate::Rank); }
};

TEST_F(RoundsTest, CountedDownByItsText) {
  Read("def run(left):\n    while left > 0:\n        dist.barrier()\n        left -= 1\n");
  EXPECT_EQ(CountedDownFrom(Rank()), Rank());
  // What all ranks start with needs no number.
  EXPECT_FALSE(CountedDownFrom(store().Int(3)));
}

TEST_F(RoundsTest, NotWhereARoundMayLeaveItOut) {
  Read("def run(left, skips):\n    while left:\n        if skips:\n            continue\n        left -= 1\n");
  EXPECT_FALSE(CountedDownFrom(Rank()));
}

TEST_F(RoundsTest, NotInStepsOfAnotherSize) {
  Read("def run(left):\n    while left > 0:\n        left -= 2\n");
  EXPECT_FALSE(CountedDownFrom(Rank()));
}

TEST_F(RoundsTest, CountedToAnEndByItsText) {
  Read("def run(i):\n    while i < 10:\n        i += 2\n");
  EXPECT_EQ(CountedFromZero(Rank()), store().Int(5));
}

TEST_F(RoundsTest, CountedToAnEndThatIsAskedForFirst) {
  Read("def run(i):\n    while 10 >= i:\n        i = i + 1\n");
  EXPECT_EQ(CountedFromZero(Rank()), store().Int(11));
}

TEST_F(RoundsTest, CountedInStepsOfTheRank) {
  Read("def run(i, step):\n    while i < 10:\n        i += step\n");
  const ValueId count = CountedFromZero(Rank());
  ASSERT_TRUE(count);
  EXPECT_TRUE(store().axes(count).has(knowledge::Axis::Global));
  EXPECT_FALSE(CountedFromZero(store().Fresh({})));
}

TEST_F(RoundsTest, NotCountedWhereARoundMayLeaveItOut) {
  Read("def run(i, skips):\n    while i < 10:\n        if skips:\n            continue\n        i += 1\n");
  EXPECT_FALSE(CountedFromZero(Rank()));
}

TEST_F(RoundsTest, NotCountedToAnEndThatMoves) {
  Read("def run(i, end):\n    while i < end:\n        i += 1\n        end += 1\n");
  EXPECT_FALSE(CountedFromZero(Rank()));
}

TEST_F(RoundsTest, HasRoundsUnlessTheyAreCutShort) {
  Read("def run(items):\n    for item in items:\n        if item:\n            break\n");
  EXPECT_TRUE(HasRounds(module(), store(), Loop(), store().Int(2), false));
  EXPECT_FALSE(HasRounds(module(), store(), Loop(), store().Int(2), true));
  EXPECT_FALSE(HasRounds(module(), store(), Loop(), store().Int(0), false));
  EXPECT_FALSE(HasRounds(module(), store(), Loop(), store().Fresh({}), false));
}

TEST_F(RoundsTest, WhatARoundAssigns) {
  Read("def run(items):\n    total = 0\n    other = 0\n    for item in items:\n        total += item\n    return total, other\n");
  const Scope& scope = tables().ScopeOf(Function("run"));
  const std::vector<uint32_t> expected = {scope.slots.at(Name("item")), scope.slots.at(Name("total"))};
  EXPECT_EQ(SlotsIn(module(), scope, Loop()).assigned, expected);
}

TEST_F(RoundsTest, WhatIsAssignedOnTheWayOutIsNotHandedOn) {
  Read("def run(items):\n    found = last = tried = None\n    for item in items:\n        last = item\n        if item.fits:\n            found = item\n"
       "            break\n        try:\n            tried = item\n            return tried.use()\n        except OSError:\n            pass\n");
  const Scope& scope = tables().ScopeOf(Function("run"));
  const LoopSlots slots = SlotsIn(module(), scope, Loop());
  const auto carries = [&](std::string_view name) { return std::ranges::count(slots.carried, scope.slots.at(Name(name))) > 0; };
  EXPECT_FALSE(carries("found"));
  EXPECT_TRUE(carries("last") && carries("tried"));
}

TEST_F(RoundsTest, AsManyStepsAsRounds) {
  Read("");
  const ValueId carried = store().Fresh({});
  const ValueId step = store().Binary(ir::BinaryOp::Add, carried, store().Int(2));
  const ValueId twice = store().Binary(ir::BinaryOp::Mul, Rank(), store().Int(2));
  EXPECT_EQ(CountedUp(store(), store().Int(1), carried, step, Rank()), store().Binary(ir::BinaryOp::Add, store().Int(1), twice));
  EXPECT_FALSE(CountedUp(store(), store().Int(1), carried, step, store().Int(3)));
  EXPECT_FALSE(CountedUp(store(), store().Int(1), carried, Rank(), Rank()));
}

TEST_F(RoundsTest, TheLeastOfSeveralNumbers) {
  Read("");
  const ValueId two[] = {store().Int(5), store().Int(3)};
  EXPECT_EQ(Least(tables(), two), store().Int(3));
  const ValueId agreed = store().Uniform(Rank(), Axes::Of(Axis::Global), store().NewSymbol());
  const ValueId with_agreed[] = {Rank(), agreed};
  EXPECT_EQ(Least(tables(), with_agreed), agreed);
  EXPECT_EQ(RoundedUp(store(), store().Int(7), store().Int(3)), store().Int(3));
}

TEST_F(RoundsTest, SumsDoNotHangOnTheOrderOfRounds) {
  Read("");
  const ValueId carried = store().Fresh({});
  EXPECT_TRUE(IsSumOfRounds(tables(), carried, store().Binary(ir::BinaryOp::Add, carried, store().Int(1))));
  EXPECT_FALSE(IsSumOfRounds(tables(), carried, store().Binary(ir::BinaryOp::Add, carried, store().Str(Name("a")))));
  EXPECT_FALSE(IsSumOfRounds(tables(), carried, store().Binary(ir::BinaryOp::Sub, carried, store().Int(1))));
}

}  // namespace
}  // namespace allranks::variation
