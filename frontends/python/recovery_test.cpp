// Text that is no Python: the rest is lowered all the same, and a problem says where it broke.
#include <gtest/gtest.h>

#include "frontends/python/lowered_text.h"

namespace allranks::python {
namespace {

struct Broken {
  const char* source;
  const char* printed;
};

class RecoveryTest : public testing::TestWithParam<Broken> {};

TEST_P(RecoveryTest, KeepsTheRest) { EXPECT_EQ(LoweredLines(GetParam().source), GetParam().printed); }

INSTANTIATE_TEST_SUITE_P(
    InPlace, RecoveryTest,
    testing::Values(
        Broken{"x = foo(a b)\ny()\n",
               "x = foo(<opaque a, b>)  @1\ny()  @2\nproblem syntax: unexpected `b`  @1\n"},
        Broken{"if rank = 0:\n  x()\ny()\n",
               "if <opaque rank>:  @1\n  x()  @2\ny()  @3\nproblem syntax: unexpected `=`  @1\n"},
        Broken{"x = 1 +\n", "<opaque x, 1>  @1\nproblem syntax: unexpected end of line  @1\n"},
        Broken{"return = 3\nx()\n", "<opaque 3>  @1\nx()  @2\nproblem syntax: unexpected `=`  @1\n"},
        Broken{"x = 'abc\ny()\n",
               "<opaque x, abc>  @1\ny()  @2\nproblem syntax: string is never closed  @1\n"},
        Broken{"if x:\ny()\n", "if x:  @1\ny()  @2\nproblem syntax: expected an indented block  @1\n"},
        Broken{"try:\n  x()\ny()\n",
               "try:  @1\n  x()  @2\ny()  @3\nproblem syntax: `try` without `except` or `finally`  @1\n"},
        Broken{"print 'a', b\nexec 'c'\nx()\n",
               "<opaque 'a', b>  @1\n<opaque 'c'>  @2\nx()  @3\n"
               "problem syntax: `print` statement of Python 2  @1\n"
               "problem syntax: `exec` statement of Python 2  @2\n"},
        Broken{"print >>f, x\ny()\n",
               "<opaque f, x>  @1\ny()  @2\nproblem syntax: `print` statement of Python 2  @1\n"}));

INSTANTIATE_TEST_SUITE_P(
    BracketsLeftOpen, RecoveryTest,
    testing::Values(
        Broken{"def f():\n  x = foo(1,\n  y = 2\n  barrier()\n\ndef g():\n  h()\n",
               "def f():  @1\n  <opaque>  @2\n  y = 2  @3\n  barrier()  @4\ndef g():  @6\n  h()  @7\n"
               "problem syntax: `(` is never closed  @2\n"},
        Broken{"class A:\n  def f(self):\n    return (1\n\n  def g(self):\n    self.h()\n",
               "class A():  @1\n  def f(self):  @2\n    <opaque>  @3\n  def g(self):  @5\n    self.h()  @6\n"
               "problem syntax: `(` is never closed  @3\n"},
        Broken{"def train(model, (loader:\n  x()\ny()\n",
               "def train():  @1\n  x()  @2\ny()  @3\nproblem syntax: `(` is never closed  @1\n"},
        Broken{"x = foo(\n  a,\n  b\ny()\n",
               "<opaque>  @1\ny()  @4\nproblem syntax: `(` is never closed  @1\n"},
        Broken{"x = (1]\ny()\n", "<opaque>  @1\ny()  @2\nproblem syntax: `]` does not close `(`  @1\n"},
        Broken{"x = 1)\ny()\n", "<opaque>  @1\ny()  @2\nproblem syntax: `)` closes nothing  @1\n"},
        Broken{"if a:\n  foo(\nelse:\n  b()\nc()\n",
               "if a:  @1\n  <opaque>  @2\nelse:\n  b()  @4\nc()  @5\nproblem syntax: `(` is never closed  "
               "@2\n"}));

INSTANTIATE_TEST_SUITE_P(
    ColonsForgotten, RecoveryTest,
    testing::Values(Broken{"def f(x):\n  if x == 0\n    y()\n  else:\n    z()\n",
                           "def f(x):  @1\n  if <opaque>:  @2\n    y()  @3\n  else:\n    z()  @5\nproblem "
                           "syntax: expected `:`  @2\n"},
                    Broken{"for x in y\n  z()\nw()\n",
                           "if <opaque>:  @1\n  z()  @2\nw()  @3\nproblem syntax: expected `:`  @1\n"}));

INSTANTIATE_TEST_SUITE_P(
    Displaced, RecoveryTest,
    testing::Values(
        Broken{"x = 1\nelse:\n  y()\nz()\n",
               "x = 1  @1\n<opaque>  @2\ny()  @3\nz()  @4\nproblem syntax: unexpected `else`  @2\n"},
        Broken{"x = {\n  'a': 1\n  'b': 2,\n}\ny()\n",
               "<opaque>  @1\ny()  @5\nproblem syntax: unexpected `1`  @2\n"}));

TEST(RecoveryTest, NulBytesAndLoneReturns) {
  EXPECT_EQ(LoweredLines(std::string_view("x()\n\0y()\n", 9)),
            "x()  @1\ny()  @2\nproblem syntax: null byte in the source  @2\n");
  EXPECT_EQ(LoweredLines("x()\rif y:\r  z()\r"), "x()  @1\nif y:  @2\n  z()  @3\n");
  EXPECT_EQ(LoweredLines("x()\r\nif y:\r\n\tz()\r\n"), "x()  @1\nif y:  @2\n  z()  @3\n");
}

TEST(RecoveryTest, InvalidUtf8) {
  EXPECT_EQ(LoweredText("x = 'caf\xe9'  # caf\xe9\ny()\n"), "x = 'caf\xe9'\ny()\n");
  EXPECT_EQ(LoweredText("x = \xff\ny()\n"), "<opaque x>\ny()\nproblem syntax: unexpected `\xff`\n");
}

TEST(RecoveryTest, NothingAtAll) {
  EXPECT_EQ(LoweredText(""), "");
  EXPECT_EQ(LoweredText("\n\n# comment"), "");
  EXPECT_EQ(LoweredText("x"), "x\n");
}

TEST(RecoveryTest, ProblemsAreCounted) {
  std::string source;
  for (int i = 0; i < 1000; ++i) source += "x = $\n";
  const std::string printed = LoweredText(source);
  size_t problems = 0;
  for (size_t at = printed.find("problem"); at != std::string::npos; at = printed.find("problem", at + 1))
    ++problems;
  EXPECT_EQ(problems, 200u);
}

TEST(RecoveryTest, CellsDoNotHarmOneAnother) {
  const std::string json = R"js({"cells": [
      {"cell_type": "code", "source": "x = foo(1,"},
      {"cell_type": "code", "source": ["y = [\n", "  2]"]},
      {"cell_type": "code", "source": "def f(:\n  z()"},
      {"cell_type": "code", "source": "!ls\nw(*a)"}]})js";
  const source::SourceFile file = source::MakeSourceFile("a.ipynb", json).value();
  EXPECT_EQ(LoweredText(file),
            "<opaque>\ny = [2]\nif <opaque>:\n  z()\nw(*a)\n"
            "problem syntax: `(` is never closed\nproblem syntax: `(` is never closed\n");
}

}  // namespace
}  // namespace allranks::python
