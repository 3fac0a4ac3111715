#include "frontends/python/outline.h"

#include <gtest/gtest.h>

namespace allranks::python {
namespace {

ir::Range All(std::string_view text) { return {0, static_cast<uint32_t>(text.size())}; }

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> statements;
  for (const ir::Range range : SplitStatements(text, All(text))) {
    statements.emplace_back(text.substr(range.begin, range.end - range.begin));
  }
  return statements;
}

using Texts = std::vector<std::string>;

TEST(OutlineTest, SplitsStatements) {
  EXPECT_EQ(Split("a = 1\nb\n"), Texts({"a = 1\n", "b\n"}));
  EXPECT_EQ(Split("if a:\n  b\nelse:\n  c\n# d\ne\n"), Texts({"if a:\n  b\nelse:\n  c\n# d\n", "e\n"}));
  EXPECT_EQ(Split("@a\n@b\ndef f():\n  pass\n@c\nclass A: pass\n"),
            Texts({"@a\n@b\ndef f():\n  pass\n", "@c\nclass A: pass\n"}));
  EXPECT_EQ(Split("x = (\na,\nb\n)\ny\n"), Texts({"x = (\na,\nb\n)\n", "y\n"}));
  EXPECT_EQ(Split("x = '''\ndef f():\n'''\ny\n"), Texts({"x = '''\ndef f():\n'''\n", "y\n"}));
  EXPECT_EQ(Split("x = \\\ny\nz\n"), Texts({"x = \\\ny\n", "z\n"}));
}

TEST(OutlineTest, KeywordsCloseBrackets) {
  EXPECT_EQ(Split("x = foo(1,\ny = 2\ndef f(): pass\n"), Texts({"x = foo(1,\ny = 2\n", "def f(): pass\n"}));
}

std::string Fault(std::string_view text) {
  const std::optional<TextFault> fault = FindTextFault(text, All(text));
  return fault ? std::to_string(fault->offset) + " " + fault->text : "";
}

TEST(OutlineTest, FindsFaults) {
  EXPECT_EQ(Fault("x = (1, [2], {3: '('})  # (\nif y: z\n"), "");
  EXPECT_EQ(Fault("f(a[1)\n"), "5 `)` does not close `[`");
  EXPECT_EQ(Fault("f(a))\n"), "4 `)` closes nothing");
  EXPECT_EQ(Fault("f(\n  g(1\n"), "6 `(` is never closed");
  EXPECT_EQ(Fault("if x\n  y\n"), "4 expected `:`");
  EXPECT_EQ(Fault("if x:\n  y\nelse\n  z\n"), "14 expected `:`");
  EXPECT_EQ(Fault("def f(a: int)\n  y\n"), "13 expected `:`");
  EXPECT_EQ(Fault("async def f()\n"), "13 expected `:`");
  EXPECT_EQ(Fault("if (x and\n    y):\n  z\n"), "");
  EXPECT_EQ(Fault("if x and \\\n  y:\n  z\n"), "");
}

std::string Masked(std::string text, std::string_view at) {
  MaskStatement(static_cast<uint32_t>(text.find(at)), All(text), &text);
  return text;
}

TEST(OutlineTest, MasksStatements) {
  EXPECT_EQ(Masked("a\nfoo(1\nb\n", "("), "a\npass \nb\n");
  EXPECT_EQ(Masked("  foo(\n    1,\n\n    2\n  b\n", "("), "  pass\n      \n\n     \n  b\n");
  EXPECT_EQ(Masked("x = {\n  a: 1\n  b\n}\ny\n", "b"), "pass \n      \n   \n \ny\n");
  EXPECT_EQ(Masked("a)\nb\n", ")"), "  \nb\n");
}

TEST(OutlineTest, MasksHeaders) {
  EXPECT_EQ(Masked("if (x:\n  y\n", "("), "if _: \n  y\n");
  EXPECT_EQ(Masked("if x:\n  y\nelif (z:\n  w\n", "("), "if x:\n  y\nelif _: \n  w\n");
  EXPECT_EQ(Masked("def train(a, (b:\n  y\n", "(b"), "def train():    \n  y\n");
  EXPECT_EQ(Masked("class A((B):\n  y\n", "(("), "class A:    \n  y\n");
  EXPECT_EQ(Masked("else:\n  y\n", "else"), "pass \n  y\n");
  EXPECT_EQ(Masked("def f(a,\n      (b:\n  y\n", "(b"), "def f():\n         \n  y\n");
}

}  // namespace
}  // namespace allranks::python
