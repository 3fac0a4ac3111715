// The builder writes what the views read, the printer shows it, the verifier finds what is wrong.
#include <gtest/gtest.h>

#include <array>

#include "analyzer/ir/builder.h"
#include "analyzer/ir/printer.h"
#include "analyzer/ir/verifier.h"

namespace allranks::ir {
namespace {

constexpr size_t kSourceBytes = 100;

class IrTest : public testing::Test {
 protected:
  IrTest() : builder_(source::FileId{0}, Language::Python, kSourceBytes) {
    builder_.StartFunction({.name = interner_.Intern("<module>"), .end = kSourceBytes});
  }

  NameId Id(std::string_view name) { return interner_.Intern(name); }
  ExprId Name(std::string_view name) { return builder_.Name({0, 1}, Id(name)); }
  ExprId Text(std::string_view text) { return builder_.Text({0, 1}, ConstantKind::Str, Id(text)); }
  BlockId Pass() {
    const StmtId pass[] = {builder_.Pass({0, 1})};
    return builder_.Block(pass);
  }

  // Ends the module; more than one call makes no sense.
  Module Finish(std::vector<StmtId> body) {
    const BlockId block = builder_.Block(body);
    builder_.EditFunction(kTopLevel).body = block;
    return builder_.Finish();
  }
  std::string Printed(StmtId statement) {
    const Module module = Finish({statement});
    EXPECT_EQ(Verify(module, kSourceBytes), std::vector<std::string>());
    return Print(module, interner_);
  }
  std::string Printed(ExprId expr) { return Printed(builder_.ExprStmt({0, 1}, expr)); }

  base::Interner interner_;
  Builder builder_;
};

TEST_F(IrTest, CallsAndArguments) {
  const Arg args[] = {{ArgKind::Positional, {}, Name("a")},
                      {ArgKind::Star, {}, Name("b")},
                      {ArgKind::Keyword, Id("c"), Name("d")},
                      {ArgKind::DoubleStar, {}, Name("e")}};
  const ExprId call = builder_.Call({0, 9}, builder_.Attribute({0, 3}, Name("f"), Id("g")), args);
  EXPECT_EQ(ArgCount(builder_.module(), builder_.module()[call]), 4u);
  EXPECT_EQ(Printed(call), "f.g(a, *b, c=d, **e)\n");
}

TEST_F(IrTest, Constants) {
  const ExprId items[] = {builder_.Int({0, 1}, -1),
                          builder_.Int({0, 1}, INT64_MAX),
                          builder_.BigInt({0, 1}),
                          builder_.Constant({0, 1}, ConstantKind::None),
                          Text("a'\\\n\x01\xc3\xa9"),
                          builder_.Text({0, 1}, ConstantKind::Bytes, Id("b")),
                          builder_.Text({0, 1}, ConstantKind::Str, {}),
                          builder_.Text({0, 1}, ConstantKind::Float, Id("1.5"))};
  EXPECT_EQ(IntOf(builder_.module()[items[0]]), -1);
  EXPECT_EQ(IntOf(builder_.module()[items[1]]), INT64_MAX);
  EXPECT_EQ(
      Printed(builder_.Tuple({0, 1}, items)),
      "(-1, 9223372036854775807, <big int>, None, 'a\\'\\\\\\n\\x01\xc3\xa9', b'b', <long str>, 1.5)\n");
}

TEST_F(IrTest, ComparisonsAndConditionals) {
  const Comparison rest[] = {{CompareOp::Less, Name("b")}, {CompareOp::NotIn, Name("c")}};
  const ExprId compare = builder_.Compare({0, 1}, Name("a"), rest);
  const ExprId operands[] = {compare, builder_.Unary({0, 1}, UnaryOp::Not, Name("d"))};
  const ExprId test = builder_.Bool({0, 1}, BoolOp::Or, operands);
  EXPECT_EQ(Printed(builder_.Conditional({0, 1}, test, Name("e"), Name("f"))),
            "(e if ((a < b not in c) or (not d)) else f)\n");
}

TEST_F(IrTest, Comprehensions) {
  const ExprId conditions[] = {Name("c")};
  const Clause clauses[] = {
      {.target = Name("a"), .iter = Name("b"), .conditions = builder_.Conditions(conditions)},
      {.target = Name("d"), .iter = Name("e"), .conditions = {}, .is_async = true}};
  const ExprId pair[] = {Name("f"), Name("g")};
  EXPECT_EQ(
      Printed(builder_.Comprehension({0, 1}, ComprehensionKind::Dict, builder_.Tuple({0, 1}, pair), clauses)),
      "{f: g for a in b if c async for d in e}\n");
}

TEST_F(IrTest, Blocks) {
  const StmtId inner[] = {builder_.If({0, 1}, Name("b"), Pass(), {})};
  EXPECT_EQ(Printed(builder_.If({0, 1}, Name("a"), Pass(), builder_.Block(inner))),
            "if a:\n  pass\nelse:\n  if b:\n    pass\n");
}

TEST_F(IrTest, Definitions) {
  const FunctionId function = builder_.StartFunction({.name = Id("f"), .parent = kTopLevel});
  builder_.EditFunction(function).params = {{.name = Id("a"), .kind = ParamKind::PositionalOnly},
                                            {.name = Id("b"), .default_value = builder_.Int({0, 1}, 1)},
                                            {.name = Id("c"), .kind = ParamKind::KeywordOnly}};
  builder_.EditFunction(function).body = Pass();
  builder_.EditFunction(function).flags = kAsync;
  EXPECT_EQ(Printed(builder_.FunctionDef({0, 1}, function)), "async def f(a, /, b=1, *, c):\n  pass\n");
}

TEST_F(IrTest, PrintsOneFunction) {
  const FunctionId function = builder_.StartFunction({.name = Id("f"), .parent = kTopLevel, .body = Pass()});
  const StmtId definition = builder_.FunctionDef({0, 1}, function);
  const Module module = Finish({builder_.Pass({0, 1}), definition});
  EXPECT_EQ(Print(module, interner_, {.function = function}), "def f():\n  pass\n");
}

TEST_F(IrTest, PrintsLinesAndProblems) {
  builder_.AddProblem(ProblemKind::Syntax, {2, 3}, "unexpected `b`");
  const source::SourceFile file =
      source::MakeSourceFile("a.py", std::string("a\nb") + std::string(97, ' ')).value();
  const Module module = Finish({builder_.ExprStmt({0, 1}, Name("a"))});
  EXPECT_EQ(Print(module, interner_, {.file = &file}), "a  @1\nproblem syntax: unexpected `b`  @2\n");
}

TEST_F(IrTest, ProblemsAndCommentsInOrder) {
  builder_.AddComment({5, 6});
  builder_.AddComment({1, 2});
  builder_.AddProblem(ProblemKind::Limit, {9, 9}, "b");
  builder_.AddProblem(ProblemKind::Syntax, {3, 3}, "a");
  builder_.SortByPlace();
  EXPECT_EQ(builder_.module().comments[0].begin, 1u);
  EXPECT_EQ(builder_.module().problems[0].text, "a");
}

TEST_F(IrTest, CountsItsBytes) {
  const size_t before = builder_.module().byte_size();
  EXPECT_GT(before, 0u);
  const Module module = Finish({builder_.ExprStmt({0, 1}, Name("a"))});
  EXPECT_EQ(module.byte_size(),
            sizeof(Expr) + sizeof(Stmt) + sizeof(Block) + sizeof(StmtId) + sizeof(Function));
}

// ---- What the verifier finds

std::string FirstFault(const Module& module) {
  const std::vector<std::string> faults = Verify(module, kSourceBytes);
  return faults.empty() ? "" : faults[0];
}

TEST_F(IrTest, VerifierWantsATopLevel) { EXPECT_EQ(FirstFault(Module()), "the module has no top level"); }

TEST_F(IrTest, VerifierChecksIds) {
  EXPECT_EQ(FirstFault(Finish({builder_.ExprStmt({0, 1}, ExprId{7})})), "expression 7 of 0");
}

TEST_F(IrTest, VerifierChecksLists) {
  const StmtId statement = builder_.ExprStmt({0, 1}, Name("a"));
  Module module = Finish({statement});
  module.exprs[ExprId{0}] = {.kind = ExprKind::Tuple, .a = 3, .b = 0xffffffff};
  EXPECT_EQ(FirstFault(module), "list [3, +4294967295) lies outside the words");
  module.exprs[ExprId{0}] = {.kind = ExprKind::Call, .a = 0, .b = 5};
  EXPECT_EQ(FirstFault(module), "expression 0 stands in two places");
  module.exprs[ExprId{0}] = {.kind = ExprKind::Name, .a = NameId::kNoneIndex};
  EXPECT_EQ(FirstFault(module), "Name without a name");
}

TEST_F(IrTest, VerifierChecksSpans) {
  const StmtId statement = builder_.ExprStmt({3, 2}, Name("a"));
  EXPECT_EQ(FirstFault(Finish({statement})), "statement spans [3, 2) of 100 bytes");
}

TEST_F(IrTest, VerifierFindsSharing) {
  const ExprId name = Name("a");
  EXPECT_EQ(FirstFault(Finish({builder_.Return({0, 1}, builder_.Binary({0, 1}, BinaryOp::Add, name, name))})),
            "expression 0 stands in two places");
}

TEST_F(IrTest, VerifierBoundsDepth) {
  ExprId expr = Name("a");
  for (uint32_t i = 0; i < kMaxDepth + 5; ++i) expr = builder_.Starred({0, 1}, expr);
  EXPECT_EQ(FirstFault(Finish({builder_.ExprStmt({0, 1}, expr)})),
            "expression 6 lies deeper than 512 levels");
}

}  // namespace
}  // namespace allranks::ir
