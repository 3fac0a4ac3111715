#include "analyzer/knowledge/formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/base/operators.h"

namespace allranks::knowledge {
namespace {

using ::testing::HasSubstr;

// Parses formulas and writes them back with every pair of parentheses.
class FormulaTest : public ::testing::Test {
 protected:
  std::string Parsed(std::string_view text) {
    const base::Result<FormulaId> formula = ParseFormula(text, params_, names_, formulas_);
    return formula ? Print(*formula) : "error: " + formula.error().message;
  }

  std::string Print(FormulaId id) const {
    const Formula& formula = formulas_[id];
    const auto both = [&](std::string_view between) {
      return "(" + Print(formula.left) + " " + std::string(between) + " " + Print(formula.right) + ")";
    };
    switch (formula.kind) {
      case FormulaKind::Int:
        return std::to_string(formula.number);
      case FormulaKind::Bool:
        return formula.number != 0 ? "true" : "false";
      case FormulaKind::Coordinate:
        return PrintCoordinate(formula);
      case FormulaKind::Param:
        return "arg(" + std::string(names_.View(formula.param)) + ")";
      case FormulaKind::Not:
        return "not " + Print(formula.left);
      case FormulaKind::Negate:
        return "-" + Print(formula.left);
      case FormulaKind::Binary:
        return both("binary " + std::to_string(formula.op));
      case FormulaKind::Compare:
        return both("compare " + std::to_string(formula.op));
      case FormulaKind::And:
        return both("and");
      case FormulaKind::Or:
        return both("or");
    }
    return "?";
  }

  std::string PrintCoordinate(const Formula& formula) const {
    constexpr std::string_view kNames[] = {"rank",       "local_rank", "node_rank",        "axis_rank",
                                           "group_rank", "world_size", "local_world_size", "node_count",
                                           "axis_size",  "group_size"};
    std::string text(kNames[static_cast<size_t>(formula.coordinate)]);
    if (formula.param) text += "(" + std::string(names_.View(formula.param)) + ")";
    if (text.starts_with("axis")) text += "(" + std::string(AxisName(formula.axis)) + ")";
    return text;
  }

  base::Interner names_;
  base::IdVector<FormulaId, Formula> formulas_;
  std::vector<NameId> params_ = {names_.Intern("group"), names_.Intern("condition")};
};

std::string Op(base::CompareOp op) { return "compare " + std::to_string(static_cast<int>(op)); }
std::string Op(base::BinaryOp op) { return "binary " + std::to_string(static_cast<int>(op)); }

TEST_F(FormulaTest, Coordinates) {
  EXPECT_EQ(Parsed("rank"), "rank");
  EXPECT_EQ(Parsed(" local_world_size "), "local_world_size");
  EXPECT_EQ(Parsed("tensor_rank"), "axis_rank(tensor parallel)");
  EXPECT_EQ(Parsed("pipeline_size"), "axis_size(pipeline parallel)");
  EXPECT_EQ(Parsed("mesh_rank"), "axis_rank(mesh dimension)");
  EXPECT_EQ(Parsed("group_rank(group)"), "group_rank(group)");
  EXPECT_EQ(Parsed("group_size( self )"), "group_size(self)");
  EXPECT_EQ(Parsed("arg(condition)"), "arg(condition)");
  EXPECT_EQ(Parsed("true"), "true");
}

TEST_F(FormulaTest, OperatorsHavePythonsRanks) {
  EXPECT_EQ(Parsed("rank == 0"), "(rank " + Op(base::CompareOp::Eq) + " 0)");
  EXPECT_EQ(Parsed("rank + 1 * 2"),
            "(rank " + Op(base::BinaryOp::Add) + " (1 " + Op(base::BinaryOp::Mul) + " 2))");
  EXPECT_EQ(Parsed("rank - 1 - 2"),
            "((rank " + Op(base::BinaryOp::Sub) + " 1) " + Op(base::BinaryOp::Sub) + " 2)");
  EXPECT_EQ(Parsed("rank // 2 % 2"),
            "((rank " + Op(base::BinaryOp::FloorDiv) + " 2) " + Op(base::BinaryOp::Mod) + " 2)");
  EXPECT_EQ(Parsed("not rank == 0 and true or false"),
            "((not (rank " + Op(base::CompareOp::Eq) + " 0) and true) or false)");
  EXPECT_EQ(Parsed("-1 < -rank"), "(-1 " + Op(base::CompareOp::Less) + " -rank)");
  EXPECT_EQ(Parsed("(rank - 1) * 2"),
            "((rank " + Op(base::BinaryOp::Sub) + " 1) " + Op(base::BinaryOp::Mul) + " 2)");
}

TEST_F(FormulaTest, ChainedComparison) {
  EXPECT_EQ(Parsed("0 <= rank < 2"),
            "((0 " + Op(base::CompareOp::LessEq) + " rank) and (rank " + Op(base::CompareOp::Less) + " 2))");
}

TEST_F(FormulaTest, ErrorsNamePlaceAndCure) {
  EXPECT_EQ(Parsed("ranks == 0"),
            "error: column 1 of the formula: unknown word `ranks`; did you mean `rank`?");
  EXPECT_EQ(
      Parsed("rank == "),
      "error: column 9 of the formula: a number, a coordinate such as `rank` or a parenthesis belongs here, "
      "not the end");
  EXPECT_EQ(Parsed("(rank == 0"), "error: column 11 of the formula: `)` is missing here");
  EXPECT_EQ(Parsed("rank 0"),
            "error: column 6 of the formula: `0` is left over; join conditions with `and` or `or`");
  EXPECT_EQ(Parsed("group == 0"),
            "error: column 1 of the formula: unknown word `group`; an argument is written `arg(group)`");
  EXPECT_EQ(Parsed("group_rank(grp)"),
            "error: column 12 of the formula: `grp` is not in `params`; did you mean `group`?");
  EXPECT_THAT(Parsed("rank = 0"), HasSubstr("`= 0` is left over"));
  EXPECT_THAT(Parsed("99999999999999999999"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(Parsed("arg()"), HasSubstr("the name of a parameter belongs here"));
  EXPECT_THAT(Parsed(""), HasSubstr("not the end"));
}

TEST_F(FormulaTest, AnErrorLeavesNoNodes) {
  Parsed("rank == 0");
  const size_t before = formulas_.size();
  Parsed("rank == 0 and local_rnk");
  EXPECT_EQ(formulas_.size(), before);
}

TEST_F(FormulaTest, DeepNestingIsAnErrorNotACrash) {
  EXPECT_THAT(Parsed(std::string(100'000, '(')), HasSubstr("nested too deeply"));
  EXPECT_THAT(Parsed(std::string(100'000, '-') + "1"), HasSubstr("nested too deeply"));
  std::string nots;
  for (int i = 0; i < 50'000; ++i) nots += "not ";
  EXPECT_THAT(Parsed(nots + "true"), HasSubstr("nested too deeply"));
}

// Whatever is cut out of a formula, the answer is a formula or one line that says what is wrong.
TEST_F(FormulaTest, EveryPieceOfAFormulaIsAnswered) {
  const std::string formula =
      "not (0 <= rank < world_size // 2) and arg(condition) or group_rank(group) % 2 == -1";
  for (size_t begin = 0; begin < formula.size(); ++begin) {
    for (size_t length = 0; begin + length <= formula.size(); ++length) {
      const std::string answer = Parsed(formula.substr(begin, length));
      EXPECT_FALSE(answer.empty());
      EXPECT_EQ(answer.find('\n'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace allranks::knowledge
