// Laws of values, on expressions that are made at random from seeds: what a value folds to is what it is on every rank of
// every world, and to put arguments in before folding or after it is the same.
#include <gtest/gtest.h>

#include <random>

#include "analyzer/traces/evaluate.h"

namespace allranks::traces {
namespace {

using knowledge::Coordinate;

enum class Kind : uint8_t { Number, Rank, LocalRank, Size, Argument, Add, Subtract, Multiply, Divide, Modulo, Choose };
enum class Asks : uint8_t { Equal, Less, LessOrEqual, Not, And, Or };

// A tree of numbers; `test`, `tested` and `against` are the condition of a choice.
struct Term {
  Kind kind = Kind::Number;
  int64_t number = 0;
  std::vector<Term> kids;
  struct Condition {
    Asks test = Asks::Equal;
    std::vector<Term> sides;
    std::vector<Condition> parts;
  };
  std::vector<Condition> condition;
};

class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) {}

  Term Make(int depth) {
    constexpr int kLeaves = 5;
    constexpr int kAll = 11;
    const auto kind = static_cast<Kind>(Below(depth == 0 ? kLeaves : kAll));
    Term term{.kind = kind, .number = Below(5), .kids = {}, .condition = {}};
    if (static_cast<int>(kind) < kLeaves) return term;
    term.kids.push_back(Make(depth - 1));
    term.kids.push_back(Make(depth - 1));
    if (kind == Kind::Choose) term.condition.push_back(Ask(depth - 1));
    return term;
  }

  int Below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

 private:
  Term::Condition Ask(int depth) {
    Term::Condition asked;
    asked.test = static_cast<Asks>(Below(depth == 0 ? 3 : 6));
    if (asked.test < Asks::Not) {
      asked.sides.push_back(Make(depth));
      asked.sides.push_back(Make(depth));
      return asked;
    }
    asked.parts.push_back(Ask(depth - 1));
    if (asked.test != Asks::Not) asked.parts.push_back(Ask(depth - 1));
    return asked;
  }

  std::mt19937 random_;
};

// What Python makes of it; nothing where it divides by zero.
class Meaning {
 public:
  Meaning(const World& world, uint32_t rank, int64_t argument) : world_(world), rank_(rank), argument_(argument) {}

  std::optional<int64_t> Of(const Term& term) const {
    switch (term.kind) {
      case Kind::Number: return term.number;
      case Kind::Rank: return rank_;
      case Kind::LocalRank: return world_.LocalRank(rank_);
      case Kind::Size: return world_.size();
      case Kind::Argument: return argument_;
      default: break;
    }
    if (term.kind == Kind::Choose) {
      const std::optional<bool> holds = Of(term.condition[0]);
      return holds ? Of(term.kids[*holds ? 0 : 1]) : std::nullopt;
    }
    const std::optional<int64_t> left = Of(term.kids[0]);
    const std::optional<int64_t> right = Of(term.kids[1]);
    if (!left || !right) return std::nullopt;
    switch (term.kind) {
      case Kind::Add: return *left + *right;
      case Kind::Subtract: return *left - *right;
      case Kind::Multiply: return *left * *right;
      default: break;
    }
    if (*right == 0) return std::nullopt;
    const int64_t rest = ((*left % *right) + *right) % *right;
    return term.kind == Kind::Modulo ? rest : (*left - rest) / *right;
  }

 private:
  std::optional<bool> Of(const Term::Condition& asked) const {
    if (asked.test < Asks::Not) {
      const std::optional<int64_t> left = Of(asked.sides[0]);
      const std::optional<int64_t> right = Of(asked.sides[1]);
      if (!left || !right) return std::nullopt;
      if (asked.test == Asks::Equal) return *left == *right;
      return asked.test == Asks::Less ? *left < *right : *left <= *right;
    }
    const std::optional<bool> first = Of(asked.parts[0]);
    if (asked.test == Asks::Not) return first ? std::optional(!*first) : std::nullopt;
    const std::optional<bool> second = Of(asked.parts[1]);
    if (!first || !second) return std::nullopt;
    return asked.test == Asks::And ? *first && *second : *first || *second;
  }

  const World& world_;
  uint32_t rank_;
  int64_t argument_;
};

class LawsTest : public ::testing::Test {
 protected:
  ValueId ValueOf(const Term& term, ValueId argument) {
    constexpr ir::BinaryOp kOps[] = {ir::BinaryOp::Add, ir::BinaryOp::Sub, ir::BinaryOp::Mul, ir::BinaryOp::FloorDiv, ir::BinaryOp::Mod};
    switch (term.kind) {
      case Kind::Number: return values.Int(term.number);
      case Kind::Rank: return values.Coordinate(Coordinate::Rank);
      case Kind::LocalRank: return values.Coordinate(Coordinate::LocalRank);
      case Kind::Size: return values.Coordinate(Coordinate::WorldSize);
      case Kind::Argument: return argument;
      default: break;
    }
    const ValueId first = ValueOf(term.kids[0], argument);
    const ValueId second = ValueOf(term.kids[1], argument);
    if (term.kind == Kind::Choose) return values.Select(ValueOf(term.condition[0], argument), first, second);
    return values.Binary(kOps[static_cast<int>(term.kind) - static_cast<int>(Kind::Add)], first, second);
  }

  ValueId ValueOf(const Term::Condition& asked, ValueId argument) {
    constexpr ir::CompareOp kOps[] = {ir::CompareOp::Eq, ir::CompareOp::Less, ir::CompareOp::LessEq};
    if (asked.test < Asks::Not) {
      const ValueId left = ValueOf(asked.sides[0], argument);
      return values.Compare(kOps[static_cast<int>(asked.test)], left, ValueOf(asked.sides[1], argument));
    }
    std::vector<ValueId> parts;
    for (const Term::Condition& part : asked.parts) parts.push_back(ValueOf(part, argument));
    if (asked.test == Asks::Not) return values.Not(parts[0]);
    return asked.test == Asks::And ? values.And(parts) : values.Or(parts);
  }

  // On every rank what Python says. Numbers below zero stand for "no rank" in comparisons and are left out.
  void ExpectMeaning(const Term& term, int64_t argument, ValueId value, const World& world) {
    const Assignment nothing;
    Evaluator evaluator(values, knowledge, world, nothing);
    for (uint32_t rank = 0; rank < world.size(); ++rank) {
      const std::optional<int64_t> expected = Meaning(world, rank, argument).Of(term);
      const Outcome outcome = evaluator.Evaluate(value, rank);
      if (expected) {
        EXPECT_TRUE(outcome.kind != OutcomeKind::Number || outcome.number == *expected) << "rank " << rank;
      }
      if (values.axes(value).empty() && rank > 0) {
        EXPECT_EQ(outcome.number, evaluator.Evaluate(value, 0).number) << "no axes, and another number on rank " << rank;
      }
    }
  }

  base::Interner names;
  knowledge::Knowledge knowledge{names};
  variation::ValueStore values;
};

TEST_F(LawsTest, FoldingIsEvaluatingOnEveryRank) {
  const World worlds[] = {{.nodes = 1, .per_node = 2, .mesh = {}}, {.nodes = 2, .per_node = 2, .mesh = {}}, {.nodes = 1, .per_node = 3, .mesh = {}}};
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    const Term term = Maker(seed).Make(3);
    const ValueId value = ValueOf(term, values.Int(2));
    for (const World& world : worlds) ExpectMeaning(term, 2, value, world);
    if (HasFailure()) return;
  }
}

TEST_F(LawsTest, ArgumentsMayBePutInBeforeOrAfter) {
  const FuncId function{3};
  const World world{.nodes = 2, .per_node = 2, .mesh = {}};
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Maker maker(seed);
    const Term term = maker.Make(3);
    const int64_t argument = maker.Below(4);
    const ValueId arguments[] = {values.Int(argument)};
    variation::ValueStore::Memo memo;
    const ValueId after = values.Substitute(ValueOf(term, values.Param(function, 0)), function, arguments, memo);
    const ValueId before = ValueOf(term, arguments[0]);
    const Assignment nothing;
    Evaluator evaluator(values, knowledge, world, nothing);
    for (uint32_t rank = 0; rank < world.size(); ++rank) {
      const Outcome first = evaluator.Evaluate(before, rank);
      const Outcome second = evaluator.Evaluate(after, rank);
      const bool both = first.kind == OutcomeKind::Number && second.kind == OutcomeKind::Number;
      EXPECT_TRUE(!both || first.number == second.number) << "rank " << rank;
      EXPECT_EQ(first.kind, second.kind) << "rank " << rank;
    }
    ExpectMeaning(term, argument, after, world);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace allranks::traces
