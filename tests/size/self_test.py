#!/usr/bin/env python3
"""The checks of this folder can fail, and see what they should in C++."""

import tempfile
import unittest
from pathlib import Path

import budget
import comments
from cpp_text import functions

SOURCE = '''
#include <vector>
namespace a {
namespace {
constexpr const char* kText = R"md(
void NotAFunction() {
}
)md";
const std::vector<int> kTable = {
    1, 2,
};
}  // namespace

struct Point {
  explicit Point(int x) : x_{x}, y_(0) {
    if (x > '{') return;
  }
  int x() const { return x_; }

 private:
  int x_ = 0;
};

template <class T>
std::vector<T> Make(const T& value,
                    int count) {
  const auto twice = [&](int n) {
    return n * 2;
  };
  return std::vector<T>(twice(count), value);
}

bool operator==(const Point& a, const Point& b) { return a.x() == b.x(); }
}  // namespace a
'''


class Functions(unittest.TestCase):
    def test_finds_bodies_and_their_lengths(self):
        found = [(f.name, f.line, f.length) for f in functions(SOURCE)]
        self.assertEqual(found, [("Point", 15, 3), ("x", 18, 1), ("Make", 24, 8), ("operator==", 33, 1)])


class Budget(unittest.TestCase):
    def over(self, text, exempt=frozenset()):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "witness/a.cpp")
            file.parent.mkdir()
            file.write_text(text, encoding="utf-8")
            return budget.over_budget(Path(folder), set(exempt))[3]

    def test_small_is_fine(self):
        self.assertEqual(self.over("int One() { return 1; }\n"), [])

    def test_long_function(self):
        text = "int One() { return 1; }\n" * 40 + "int Long() {\n" + "  Call();\n" * 120 + "}\n"
        self.assertEqual(self.over(text), ["witness/a.cpp:41: `Long` has 122 lines; no function has over 120"])
        self.assertEqual(self.over(text, {"witness/a.cpp:Long"}), [])

    def test_long_file(self):
        text = "int One() { return 1; }\n" * 1001
        self.assertIn("witness/a.cpp:1: 1001 lines; no file has over 1000", self.over(text))

    def test_middling_functions(self):
        text = ("int Middling() {\n" + "  Call();\n" * 12 + "}\n") * 3
        self.assertEqual(self.over(text), ["function median: 14 lines, the budget is 10"])

    def test_exemption_that_exempts_nothing(self):
        self.assertEqual(self.over("int x;\n", {"witness/b.cpp"}),
                         ["budget_exemptions.txt: `witness/b.cpp` is not over the budget: take it out"])


class Comments(unittest.TestCase):
    def wrong(self, text):
        return [line for line, _ in comments.wrong_in_cpp(text)]

    def test_prose_is_fine(self):
        self.assertEqual(self.wrong("// Ranks wait here; nothing else does.\n// See `Foo(x)`: it says why.\nint a;\n"), [])

    def test_reminders(self):
        self.assertEqual(self.wrong("// TODO: finish\n/* FIXME */\n"), [1, 2])

    def test_code(self):
        self.assertEqual(self.wrong("// foo(bar);\n// if (x) {\n// }\n// int y = 2;\n// return y;\n"), [1, 2, 3, 4, 5])

    def test_behind_a_statement(self):
        self.assertEqual(self.wrong("struct A {\n  int a;  // a member\n};\nvoid F() {\n  a();  // narrates\n}  // namespace x\n"),
                         [5])


if __name__ == "__main__":
    unittest.main()
