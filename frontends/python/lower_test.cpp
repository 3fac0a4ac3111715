// What each construct of Python becomes, in the notation of `allranks ir`.
#include "frontends/python/lower.h"

#include <gtest/gtest.h>

#include "analyzer/ir/printer.h"
#include "frontends/python/lowered_text.h"

namespace allranks::python {
namespace {

struct Lowering {
  const char* source;
  const char* printed;
};

class LowerTest : public testing::TestWithParam<Lowering> {};

TEST_P(LowerTest, Prints) { EXPECT_EQ(LoweredText(GetParam().source), GetParam().printed); }

INSTANTIATE_TEST_SUITE_P(
    Constants, LowerTest,
    testing::Values(Lowering{"x = None, True, False, ...\n", "x = (None, True, False, ...)\n"},
                    Lowering{"x = 0, 1_000, 0xFf, 0o17, 0b11\n", "x = (0, 1000, 255, 15, 3)\n"},
                    Lowering{"x = 9223372036854775807, 9223372036854775808\n",
                             "x = (9223372036854775807, <big int>)\n"},
                    Lowering{"x = -1, - 2, --3, -x, -1.5\n", "x = (-1, -2, (--3), (-x), (-1.5))\n"},
                    Lowering{"x = 1e5, .5, 1j, 1.5J\n", "x = (1e5, .5, 1j, 1.5J)\n"}));

INSTANTIATE_TEST_SUITE_P(
    Strings, LowerTest,
    testing::Values(
        Lowering{R"(x = 'a', "b", '''c''', """d""")", "x = ('a', 'b', 'c', 'd')\n"},
        Lowering{R"(x = '\n\t\x41\101\u0042\U00000043\'')", "x = '\\n\\tAABC\\''\n"},
        Lowering{R"(x = r'\n', rb'\x41', b'\x41', u'a')", "x = ('\\\\n', b'\\\\x41', b'A', 'a')\n"},
        Lowering{R"(x = r"\\")", "x = '\\\\\\\\'\n"},
        Lowering{R"(x = '\d\N{BULLET}')", "x = '\\\\d\xef\xbf\xbd'\n"},
        Lowering{"x = 'a' \"b\" 'c'\n", "x = 'abc'\n"}, Lowering{"x = ('a'\n     'b')\n", "x = 'ab'\n"},
        Lowering{"x = 'a\\\nb'\n", "x = 'ab'\n"}, Lowering{"x = '''a\r\nb'''\r\n", "x = 'a\\nb'\n"},
        Lowering{"'docstring'\n'''another''' 'one'\nx()\n", "x()\n"}, Lowering{"f'{x}'\n", "fstring(x)\n"}));

INSTANTIATE_TEST_SUITE_P(
    FormatStrings, LowerTest,
    testing::Values(Lowering{"x = f'cuda:{rank}'\n", "x = fstring('cuda:', rank)\n"},
                    Lowering{"x = f'{{{a}}}'\n", "x = fstring('{', a, '}')\n"},
                    Lowering{"x = f'{{a}}'\n", "x = '{a}'\n"},
                    Lowering{"x = f'{a!r:>{w}.{p}f} {b:%Y-%m}'\n", "x = fstring(a, w, p, ' ', b)\n"},
                    Lowering{"x = f'{a = } {b=}'\n", "x = fstring('a = ', a, ' b=', b)\n"},
                    Lowering{"x = f\"{d[\"k\"]} {f'{y}'}\"\n", "x = fstring(d['k'], ' ', fstring(y))\n"},
                    Lowering{"x = f'''{a +\n b} {c # comment\n}'''\n", "x = fstring((a + b), ' ', c)\n"},
                    Lowering{"x = 'a' f'{b}' 'c' f'd'\n", "x = fstring('a', b, 'cd')\n"},
                    Lowering{"x = rf'\\d{a}\\n'\n", "x = fstring('\\\\d', a, '\\\\n')\n"},
                    Lowering{"x = f'{(lambda: 1)()} {a if b else c} {yield_}'\n",
                             "x = fstring((lambda: 1)(), ' ', (a if b else c), ' ', yield_)\n"}));

INSTANTIATE_TEST_SUITE_P(
    Operators, LowerTest,
    testing::Values(Lowering{"a + b - c * d / e // f % g ** h @ i\n",
                             "((a + b) - (((((c * d) / e) // f) % (g ** h)) @ i))\n"},
                    Lowering{"a << b >> c & d | e ^ f\n", "((((a << b) >> c) & d) | (e ^ f))\n"},
                    Lowering{"a ** b ** -c\n", "(a ** (b ** (-c)))\n"},
                    Lowering{"+a, ~b, not c, not not d\n", "((+a), (~b), (not c), (not (not d)))\n"},
                    Lowering{"a and b and c or d or (e or f)\n", "((a and b and c) or d or (e or f))\n"},
                    Lowering{"a < b <= c > d >= e == f != g\n", "(a < b <= c > d >= e == f != g)\n"},
                    Lowering{"a in b, a not in b, a is b, a is not b\n",
                             "((a in b), (a not in b), (a is b), (a is not b))\n"},
                    Lowering{"a < \\\n  b \\\n  < c\n", "(a < b < c)\n"},
                    Lowering{"a if b else c if d else e\n", "(a if b else (c if d else e))\n"},
                    Lowering{"(n := 10)\nf(y := 1, z=(q := 2))\n", "(n := 10)\nf((y := 1), z=(q := 2))\n"},
                    Lowering{"(n := a if b else c)\n", "(n := (a if b else c))\n"},
                    Lowering{"x = a if b else lambda: c\n", "x = (a if b else (lambda: c))\n"}));

INSTANTIATE_TEST_SUITE_P(
    Chains, LowerTest,
    testing::Values(
        Lowering{"a.b(c)[d].e(f)(g)\n", "a.b(c)[d].e(f)(g)\n"}, Lowering{"((a + b).c)\n", "(a + b).c\n"},
        Lowering{"f(a, *b, c=1, **d, *e, f=g)\n", "f(a, *b, c=1, **d, *e, f=g)\n"},
        Lowering{"f(*a + b, *c or d, **e.f)\n", "f(*(a + b), *(c or d), **e.f)\n"},
        Lowering{"f(x for x in y)\nf((x for x in y), 1)\n", "f((x for x in y))\nf((x for x in y), 1)\n"},
        Lowering{"f(a,)\nf(\n    # nothing\n)\n", "f(a)\nf()\n"},
        Lowering{"a[b], a[b, c], a[b,], a[:], a[1:2], a[::3], a[:, 1:2, None], a[...]\n",
                 "(a[b], a[(b, c)], a[(b,)], a[:], a[1:2], a[::3], a[(:, 1:2, None)], a[...])\n"},
        Lowering{"a[*b], a[b, *c]\n", "(a[(*b,)], a[(b, *c)])\n"},
        Lowering{
            "print('a')\nmatch = 1\nmatch.x\nmatch(x)\ncase = type = 3\ntype(x)\nprint(type, match)\n",
            "print('a')\nmatch = 1\nmatch.x\nmatch(x)\ncase = type = 3\ntype(x)\nprint(type, match)\n"}));

INSTANTIATE_TEST_SUITE_P(
    Displays, LowerTest,
    testing::Values(Lowering{"[], [a], [a, *b]\n", "([], [a], [a, *b])\n"},
                    Lowering{"(), (a,), (a, b), (a), a,\n", "((), (a,), (a, b), a, a)\n"},
                    Lowering{"x = a,\n", "x = (a,)\n"},
                    Lowering{"{}, {a}, {a: b, **c}, {*a, b}\n", "({}, {a}, {a: b, **c}, {*a, b})\n"},
                    Lowering{"x = *a, *b.c, *d[e](f) + g\n", "x = (*a, *b.c, *(d[e](f) + g))\n"},
                    Lowering{"x = *[], 1\ny = None, *(a,) * n\n", "x = (*[], 1)\ny = (None, *((a,) * n))\n"},
                    Lowering{"x: A[B[int] or C[\n  D or B[1]]] = [y[1] or z]\n", "x: A[(B[int] | C[(D | B[1])])] = [(y[1] or z)]\n"},
                    Lowering{"[x for a, b in c for d in e if f if g]\n",
                             "[x for (a, b) in c for d in e if f if g]\n"},
                    Lowering{"{a for a in b}, {a: b for a, b in c}, (a for a in b)\n",
                             "({a for a in b}, {a: b for (a, b) in c}, (a for a in b))\n"},
                    Lowering{"async def f(): return [x async for x in y if await x]\n",
                             "async def f():\n  return [x async for x in y if (await x)]\n"}));

INSTANTIATE_TEST_SUITE_P(
    Lambdas, LowerTest,
    testing::Values(Lowering{"lambda: 0\nlambda a: a\n", "(lambda: 0)\n(lambda a: a)\n"},
                    Lowering{"lambda a, /, b=1, *c, d, **e: 0\n", "(lambda a, /, b=1, *c, d, **e: 0)\n"},
                    Lowering{"lambda *, k=1: 0\n", "(lambda *, k=1: 0)\n"},
                    Lowering{"x = lambda: (yield)\n", "x = (lambda: (yield))\n"},
                    Lowering{"[f for f in lambda: x, 1]\n", "[f for f in ((lambda: x), 1)]\n"}));

INSTANTIATE_TEST_SUITE_P(
    Assignments, LowerTest,
    testing::Values(Lowering{"a = b = c = d\n", "a = b = c = d\n"},
                    Lowering{"a, *b, (c, [d, e]), f.g, h[0] = i\n", "(a, *b, (c, [d, e]), f.g, h[0]) = i\n"},
                    Lowering{"[a, b] = c\n(d) = e\n", "[a, b] = c\nd = e\n"},
                    Lowering{"a += b; a -= b; a *= b; a /= b; a //= b; a %= b; a @= b\n",
                             "a += b\na -= b\na *= b\na /= b\na //= b\na %= b\na @= b\n"},
                    Lowering{"a **= b; a >>= b; a <<= b; a &= b; a ^= b; a |= b, c\n",
                             "a **= b\na >>= b\na <<= b\na &= b\na ^= b\na |= (b, c)\n"},
                    Lowering{"a: int\nb.c: List[int] = d\n", "a: int\nb.c: List[int] = d\n"},
                    Lowering{"a: list[int] | None = b\n", "a: (list[int] | None) = b\n"},
                    Lowering{"type X = int\ntype Y[T] = list[T]\n", "X = int\nY = list[T]\n"},
                    Lowering{"type(self).x = 1\ntype(a, b).c[0] = d\n",
                             "type(self).x = 1\ntype(a, b).c[0] = d\n"}));

INSTANTIATE_TEST_SUITE_P(
    SimpleStatements, LowerTest,
    testing::Values(
        Lowering{"def f():\n  return\n  return a\n  return a, *b\n",
                 "def f():\n  return\n  return a\n  return (a, *b)\n"},
        Lowering{"raise\nraise E\nraise E(1) from None\n", "raise\nraise E\nraise E(1) from None\n"},
        Lowering{"assert a\nassert (b, c), 'd'\n", "assert a\nassert (b, c), 'd'\n"},
        Lowering{"del a, b[0], c.d\ndel (e, f)\n", "del a, b[0], c.d\ndel (e, f)\n"},
        Lowering{"pass; break; continue\n", "pass\nbreak\ncontinue\n"},
        Lowering{"def f():\n  global a, b\n  nonlocal c\n", "def f():\n  global a, b\n  nonlocal c\n"},
        Lowering{"import a.b as c, d.e\n", "import a.b as c\nimport d.e\n"},
        Lowering{"from a.b import (c as d, e,)\n", "from a.b import c as d\nfrom a.b import e\n"},
        Lowering{"from . import a\nfrom .. b import c\nfrom ...d.e import *\n",
                 "from . import a\nfrom ..b import c\nfrom ...d.e import *\n"},
        Lowering{"from __future__ import annotations\n", "from __future__ import annotations\n"}));

INSTANTIATE_TEST_SUITE_P(
    CompoundStatements, LowerTest,
    testing::Values(
        Lowering{"if a: b\nelif c: d\nelse: e\n", "if a:\n  b\nelse:\n  if c:\n    d\n  else:\n    e\n"},
        Lowering{"while a:\n  b\nelse:\n  c\n", "while a:\n  b\nelse:\n  c\n"},
        Lowering{"for a, in b: c\nfor d.e in *f, g: h\nelse: i\n",
                 "for (a,) in b:\n  c\nfor d.e in (*f, g):\n  h\nelse:\n  i\n"},
        Lowering{
            "try: a\nexcept B as c: d\nexcept (E, F): g\nexcept: h\nelse: i\nfinally: j\n",
            "try:\n  a\nexcept B as c:\n  d\nexcept (E, F):\n  g\nexcept:\n  h\nelse:\n  i\nfinally:\n  j\n"},
        Lowering{"try: a\nexcept* B as c: d\n", "try:\n  a\nexcept* B as c:\n  d\n"},
        Lowering{"with a, b as c, d() as (e, f): g\n", "with a, b as c, d() as (e, f):\n  g\n"},
        Lowering{"with (a as b, c,): d\nwith (a, b): c\nwith (a as b,): c\n",
                 "with a as b, c:\n  d\nwith a, b:\n  c\nwith a as b:\n  c\n"},
        Lowering{"with (a) as b: c\nwith (a as b): c\nwith (a, b) as c: d\nwith (a, b), c: d\n",
                 "with a as b:\n  c\nwith a as b:\n  c\nwith (a, b) as c:\n  d\nwith (a, b), c:\n  d\n"},
        Lowering{"with a if b else c as d: e\n", "with (a if b else c) as d:\n  e\n"}));

INSTANTIATE_TEST_SUITE_P(
    Definitions, LowerTest,
    testing::Values(
        Lowering{"def f(): pass\n", "def f():\n  pass\n"},
        Lowering{"def f(a, /, b: int = 1, *args: T, c, d=2, **kw) -> list[int]: pass\n",
                 "def f(a, /, b: int = 1, *args: T, c, d=2, **kw) -> list[int]:\n  pass\n"},
        Lowering{"def f(*, a): pass\ndef g(a, /): pass\ndef h(*args: *Ts): pass\n",
                 "def f(*, a):\n  pass\ndef g(a, /):\n  pass\ndef h(*args: *Ts):\n  pass\n"},
        Lowering{"def f():\n  x = yield a\n  def g(): pass\n",
                 "generator def f():\n  x = (yield a)\n  def g():\n    pass\n"},
        Lowering{"def f():\n  def g():\n    yield from h\n  return lambda: (yield)\n",
                 "def f():\n  generator def g():\n    (yield from h)\n  return (lambda: (yield))\n"},
        Lowering{"async def f():\n  async with a as b:\n    async for c in d: await e\n",
                 "async def f():\n  async with a as b:\n    async for c in d:\n      (await e)\n"},
        Lowering{"@a.b(c)\n@d[0]\ndef f(): pass\n", "@a.b(c)\n@d[0]\ndef f():\n  pass\n"},
        Lowering{"@a\nclass A(B, *C, metaclass=M, **k):\n  x = 1\n  def f(self): pass\n",
                 "@a\nclass A(B, *C, metaclass=M, **k):\n  x = 1\n  def f(self):\n    pass\n"},
        Lowering{"class A:\n  class B: pass\n", "class A():\n  class B():\n    pass\n"},
        Lowering{"def f[T: int, *Ts, **P](a: T): pass\nclass A[T](B[T]): pass\n",
                 "def f(a: T):\n  pass\nclass A(B[T]):\n  pass\n"},
        Lowering{"def f[T = int](): pass\nclass A[T: int = str, *Ts = *tuple[int]]: pass\n",
                 "def f():\n  pass\nclass A():\n  pass\n"}));

INSTANTIATE_TEST_SUITE_P(
    Patterns, LowerTest,
    testing::Values(
        Lowering{"match x:\n  case _: a\n", "match x:\n  case always <opaque>:\n    a\n"},
        Lowering{"match x, *y:\n  case a if b: c\n", "match (x, *y):\n  case (a := <opaque>) if b:\n    c\n"},
        Lowering{"match x:\n  case a: b\n", "match x:\n  case always (a := <opaque>):\n    b\n"},
        Lowering{"match x:\n  case 1 | -2 | 'a' 'b' | None | a.b: c\n",
                 "match x:\n  case (1 or -2 or 'ab' or None or a.b):\n    c\n"},
        Lowering{"match x:\n  case 1 + 2j | -3.5: a\n", "match x:\n  case ((1 + 2j) or (-3.5)):\n    a\n"},
        Lowering{"match x:\n  case a, *_: b\n  case [1, *rest]: c\n",
                 "match x:\n  case ((a := <opaque>), *<opaque>):\n    b\n  case [1, *(rest := <opaque>)]:\n  "
                 "  c\n"},
        Lowering{"match x:\n  case (1): a\n  case (1,): b\n  case (): c\n",
                 "match x:\n  case 1:\n    a\n  case (1,):\n    b\n  case ():\n    c\n"},
        Lowering{
            "match x:\n  case {'a': 1, b.c: d, -1: _, **rest}: e\n",
            "match x:\n  case {'a': 1, b.c: (d := <opaque>), -1: <opaque>, **(rest := <opaque>)}:\n    e\n"},
        Lowering{"match x:\n  case P(1, y=-2, z=Q()): a\n", "match x:\n  case P(1, y=-2, z=Q()):\n    a\n"},
        Lowering{"match x:\n  case (1 | 2) as y: b\n", "match x:\n  case (y := (1 or 2)):\n    b\n"},
        Lowering{"match x:\n  case y as z: a\n",
                 "match x:\n  case always (z := (y := <opaque>)):\n    a\n"}));

TEST(LowerTest, PrintsLines) {
  EXPECT_EQ(LoweredLines("import a\n\nif b:\n  c(\n    d)\nelif e:\n  f\n"),
            "import a  @1\nif b:  @3\n  c(d)  @4\nelse:\n  if e:  @6\n    f  @7\n");
}

TEST(LowerTest, KeepsStringsUpTo256Bytes) {
  const std::string longest(256, 'a');
  EXPECT_EQ(LoweredText("x = '" + longest + "'\n"), "x = '" + longest + "'\n");
  EXPECT_EQ(LoweredText("x = '" + longest + "b'\n"), "x = <long str>\n");
  EXPECT_EQ(LoweredText("x = b'" + longest + "b'\n"), "x = <long bytes>\n");
  EXPECT_EQ(LoweredText("x = f'" + longest + "b{c}'\n"), "x = fstring(<long str>, c)\n");
}

class ModuleTest : public testing::Test {
 protected:
  ir::Module Lowered(std::string source) {
    file_ = source::MakeSourceFile("test.py", std::move(source)).value();
    return Lower(file_, source::FileId{0}, interner_);
  }
  std::string Text(uint32_t begin, uint32_t end) const { return file_.text.substr(begin, end - begin); }
  std::string View(ir::NameId name) const { return std::string(interner_.View(name)); }

  base::Interner interner_;
  source::SourceFile file_;
};

TEST_F(ModuleTest, TellsWhoseFunctionsAndClassesAre) {
  const ir::Module module = Lowered(
      "class A:\n"
      "  def method(self):\n"
      "    def inner(): pass\n"
      "    class Local: pass\n"
      "  class B:\n"
      "    pass\n"
      "f = lambda: 0\n");
  ASSERT_EQ(module.functions.size(), 4u);
  const ir::Function& method = module.functions[ir::FunctionId{1}];
  const ir::Function& inner = module.functions[ir::FunctionId{2}];
  const ir::Function& lambda = module.functions[ir::FunctionId{3}];
  EXPECT_EQ(View(module.functions[ir::kTopLevel].name), "<module>");
  EXPECT_FALSE(module.functions[ir::kTopLevel].parent);
  EXPECT_EQ(method.parent, ir::kTopLevel);
  EXPECT_EQ(method.owner, ir::ClassId{0});
  EXPECT_EQ(inner.parent, ir::FunctionId{1});
  EXPECT_FALSE(inner.owner);
  EXPECT_FALSE(lambda.name);
  EXPECT_EQ(lambda.parent, ir::kTopLevel);
  const ir::Class& local = module.classes[ir::ClassId{1}];
  const ir::Class& nested = module.classes[ir::ClassId{2}];
  EXPECT_EQ(View(local.name), "Local");
  EXPECT_EQ(local.parent, ir::FunctionId{1});
  EXPECT_FALSE(local.owner);
  EXPECT_EQ(View(nested.name), "B");
  EXPECT_EQ(nested.owner, ir::ClassId{0});
  EXPECT_EQ(nested.parent, ir::kTopLevel);
}

TEST_F(ModuleTest, KnowsWhereThingsStand) {
  const ir::Module module = Lowered("@dec\ndef name(param: int = 1): pass\nx = (f(y))\n");
  const ir::Function& function = module.functions[ir::FunctionId{1}];
  EXPECT_EQ(Text(function.begin, function.end), "@dec\ndef name(param: int = 1): pass");
  EXPECT_EQ(Text(function.name_begin, function.name_end), "name");
  EXPECT_EQ(Text(function.params[0].begin, function.params[0].end), "param: int = 1");
  const ir::Stmt& assign = module[module.statements(module.functions[ir::kTopLevel].body)[1]];
  EXPECT_EQ(Text(assign.begin, assign.end), "x = (f(y))");
  const ir::Expr& call = module[ir::AssignedOf(assign)];
  EXPECT_EQ(Text(call.begin, call.end), "f(y)");
}

TEST_F(ModuleTest, KeepsCommentsInOrder) {
  const ir::Module module = Lowered(
      "# first\nx = (  # second\n  a.b  # third\n  .c\n)\n'''doc # not'''\nif x:  # fourth\n  # fifth\n  "
      "pass\n"
      "def f(a,  # sixth\n      ): pass\n");
  std::vector<std::string> comments;
  for (const ir::Comment& comment : module.comments) comments.push_back(Text(comment.begin, comment.end));
  EXPECT_EQ(comments,
            (std::vector<std::string>{"# first", "# second", "# third", "# fourth", "# fifth", "# sixth"}));
}

TEST_F(ModuleTest, NamesAreSharedAcrossFiles) {
  const ir::Module first = Lowered("value\n");
  const ir::NameId name = ir::NameOf(first.exprs[ir::ExprId{0}]);
  const ir::Module second = Lowered("other.value\n");
  EXPECT_EQ(ir::AttrOf(second.exprs[ir::ExprId{1}]), name);
}

}  // namespace
}  // namespace allranks::python
