// Nesting without bound: no overflow, no time that grows with the square, and a word about what was left out.
#include <gtest/gtest.h>

#include <string>

#include "analyzer/ir/printer.h"
#include "analyzer/ir/verifier.h"
#include "frontends/python/lower.h"

namespace allranks::python {
namespace {

constexpr int kDeep = 20'000;
constexpr int kVeryDeep = 100'000;

std::string Repeat(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

// Lowers, verifies and prints: the printer recurses as any reader of the IR may.
ir::Module LowerAndCheck(const std::string& source) {
  base::Interner interner;
  const source::SourceFile file = source::MakeSourceFile("deep.py", source).value();
  ir::Module module = Lower(file, source::FileId{0}, interner);
  EXPECT_EQ(ir::Verify(module, file.text.size()), std::vector<std::string>());
  EXPECT_LT(ir::Print(module, interner).size(), 10 * source.size() + 1'000'000);
  return module;
}

struct Deep {
  const char* name;
  std::string source;
  // Whether something has to be left out.
  bool is_limited = true;
};

class NestingTest : public testing::TestWithParam<Deep> {};

TEST_P(NestingTest, IsBounded) {
  const ir::Module module = LowerAndCheck(GetParam().source);
  size_t limits = 0;
  for (const ir::Problem& problem : module.problems) {
    EXPECT_EQ(problem.kind, ir::ProblemKind::Limit) << problem.text;
    EXPECT_EQ(problem.text, "nesting deeper than 500 levels");
    ++limits;
  }
  EXPECT_EQ(limits > 0, GetParam().is_limited);
  EXPECT_LE(limits, 2u);
}

std::string NameOf(const testing::TestParamInfo<Deep>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Brackets, NestingTest,
    testing::Values(Deep{"Parentheses", "x = " + Repeat("(", kVeryDeep) + "1" + Repeat(")", kVeryDeep),
                         false},
                    Deep{"Lists", "x = " + Repeat("[", kVeryDeep) + Repeat("]", kVeryDeep)},
                    Deep{"Calls", Repeat("f(", kVeryDeep) + Repeat(")", kVeryDeep)},
                    Deep{"Keywords", Repeat("f(a=", kDeep) + "1" + Repeat(")", kDeep)},
                    Deep{"Dicts", Repeat("{a:", kDeep) + "1" + Repeat("}", kDeep)},
                    Deep{"Subscripts", Repeat("a[b:", kDeep) + "1" + Repeat("]", kDeep)},
                    Deep{"Walruses", Repeat("(a:=", kDeep) + "1" + Repeat(")", kDeep)},
                    Deep{"Yields", Repeat("(yield ", kDeep) + Repeat(")", kDeep)},
                    Deep{"Types", "x: " + Repeat("list[", kDeep) + "int" + Repeat("]", kDeep)},
                    Deep{"FormatSpecs", "x = f'{a:" + Repeat("{b:", 3000) + Repeat("}", 3000) + "}'"},
                    Deep{"Comprehensions", "x = " + Repeat("[i for i in ", kDeep) + "y" + Repeat("]", kDeep)},
                    Deep{"Patterns", "match x:\n case " + Repeat("[", kDeep) + Repeat("]", kDeep) + ": pass"},
                    Deep{"ClassPatterns",
                         "match x:\n case " + Repeat("A(b=", kDeep) + "1" + Repeat(")", kDeep) + ": pass"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(Chains, NestingTest,
                         testing::Values(Deep{"ShortSum", "x = a" + Repeat(" + a", 400), false},
                                         Deep{"Sum", "x = a" + Repeat(" + a", kVeryDeep)},
                                         Deep{"And", "x = a" + Repeat(" and a", kDeep), false},
                                         Deep{"AndOr", "x = a" + Repeat(" and a or b", kDeep), false},
                                         Deep{"Comparison", "x = a" + Repeat(" < a", kDeep), false},
                                         Deep{"Methods", "x = a" + Repeat(".b(c)", kVeryDeep)},
                                         Deep{"Indices", "x = a" + Repeat("[b]", kDeep)},
                                         Deep{"Power", "x = " + Repeat("a ** ", kDeep) + "a"},
                                         Deep{"Not", "x = " + Repeat("not ", kDeep) + "a"},
                                         Deep{"Minus", "x = " + Repeat("-", kDeep) + "a"},
                                         Deep{"Lambdas", "x = " + Repeat("lambda: ", kDeep) + "a"},
                                         Deep{"Conditionals", "x = " + Repeat("a if b else ", kDeep) + "a"},
                                         Deep{"Assignments", Repeat("x = ", kDeep) + "1", false},
                                         Deep{"Names", "match x:\n case " + Repeat("a.", kDeep) + "a: pass"},
                                         Deep{"Alternatives",
                                              "match x:\n case " + Repeat("a|", kDeep) + "a: pass", false},
                                         Deep{"Strings", "x = " + Repeat("'a' ", kDeep), false}),
                         NameOf);

INSTANTIATE_TEST_SUITE_P(Statements, NestingTest,
                         testing::Values(Deep{"ShortElif", "if a: p\n" + Repeat("elif a: p\n", 400), false},
                                         Deep{"Elif", "if a: p\n" + Repeat("elif a: p\n", kVeryDeep)},
                                         Deep{"Decorators", Repeat("@a\n", kDeep) + "def f(): pass\n", false},
                                         Deep{"Cases", "match x:\n" + Repeat(" case a: pass\n", kDeep),
                                              false}),
                         NameOf);

std::string Indented(const std::string& header, int levels) {
  std::string source;
  for (int i = 0; i < levels; ++i) source += std::string(static_cast<size_t>(i), ' ') + header;
  // The string is there for the parser's sake: its buffer of indentation levels holds open quotes as well.
  return source + std::string(static_cast<size_t>(levels), ' ') + "x = \"a\"\n";
}

TEST(IndentationTest, DeepBlocksAreRead) {
  for (const char* header : {"if a:\n", "def f():\n", "class A:\n", "with a:\n", "for a in b:\n"}) {
    EXPECT_TRUE(LowerAndCheck(Indented(header, 350)).problems.empty()) << header;
  }
}

TEST(IndentationTest, DeeperOnesAreRefused) {
  const ir::Module module = LowerAndCheck(Indented("if a:\n", 600));
  ASSERT_EQ(module.problems.size(), 1u);
  EXPECT_EQ(module.problems[0].text, "more levels of indentation than any program has");
}

TEST(IndentationTest, WideLinesAreNotDeep) {
  std::string source;
  for (size_t width = 0; width < 300; ++width) source += "x = (\n" + std::string(1000 + width, ' ') + "1)\n";
  EXPECT_TRUE(LowerAndCheck(source).problems.empty());
}

TEST(BrokenNestingTest, IsBounded) {
  for (const char* piece : {"(",
                            "[",
                            "{",
                            ")",
                            "f(",
                            "f(**",
                            "[*",
                            "{**",
                            "f\"{",
                            "a b ",
                            "def f(\n",
                            "class A(\n",
                            "@a\n",
                            "else:\n",
                            "x = 1\nelse:\n  y\n",
                            "try:\n",
                            "lambda ",
                            "x = a if ",
                            "a:",
                            "del (",
                            "$",
                            "x = 1 'a\n",
                            "with a as b, ",
                            "match x:\n case [",
                            "yield ",
                            "*",
                            "\\\n",
                            "'''",
                            "\t",
                            "import a from "}) {
    SCOPED_TRACE(piece);
    LowerAndCheck(Repeat(piece, 3'000));
  }
}

}  // namespace
}  // namespace allranks::python
