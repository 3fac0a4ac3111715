// Feeds the fuzz target with a few thousand mutations of small programs: the same ones every time.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "tests/fuzz/feed.h"

namespace allranks::tests {
namespace {

constexpr std::array<std::string_view, 6> kPrograms = {
    R"py(import torch.distributed as dist
from .a import (b as c, d,)
class Trainer(Base[T], metaclass=M):
    """Docstring."""
    @property
    async def step(self, x: int = 1, /, *args, k=None, **kw) -> None:
        if self.rank == 0 and not x or y:
            dist.barrier(group=self.group)  # comment
        elif (n := len(x)) > 10: pass
        else:
            return [i async for i in x if i], {**a, 'b': c}
        for i, (j, *k) in enumerate(x): yield i
        while True:
            break
)py",
    R"py(match x, *y:
    case [1, -2.5, None, *rest] | {"k": v, **kw} if v: pass
    case Point(x=0, y=a.b) as p: pass
    case _: z = lambda a, *b, c=1: (yield)
)py",
    R"py(with (open(f"{a!r:>{w}}") as f, b as (c, d),):
    x = f'''{x["a"]} {{}} {b = }''' "c" rb'\x00'
    try: del x[0], y
    except* (A, B) as e: raise E from e
    finally: assert a < b is not c, "msg"
)py",
    R"py(type X[T: int] = list[T]
def f[T = int](a: T): global q; nonlocal r
x = y = *a.b, *[], (c)
x: list[int] | None = a if b else c
a.b[1:2, ::3, ...](*d, **e)[f] += g ** -h @ i
)py",
    R"py({"cells": [{"cell_type": "code", "source": ["%%time\n", "x = !ls\n", "y = (1\n"]},
 {"cell_type": "markdown", "source": "# t"}, {"cell_type": "code", "source": "if a:\n    !b \\\n  c\nd?"}]}
)py",
    "if a:\r\n\tb\r\n\t\tc\rd\r\n\xef\xbb\xbf\xff\xe2\x80\n\\\n\f x = 'a\\\n b'\n"};

constexpr std::array<std::string_view, 40> kPieces = {
    "(",     ")",          "[",       "]",     "{",      "}",       ":",         ",",      "=",      "*",
    "**",    "@",          "'",       "\"",    "'''",    "\"\"\"",  "f'",        "\\",     "\n",     "\r",
    "\t",    "    ",       "\n  ",    "#",     "if ",    "else:\n", "elif x:\n", "def ",   "class ", "lambda",
    "case ", "match x:\n", "import ", "from ", "yield ", "await ",  "async ",    "print ", "type ",  "\x80"};

TEST(PythonFrontendFuzzTest, MutatedPrograms) {
  constexpr int kRounds = 400;
  for (const std::string_view program : kPrograms) FeedMutated(std::string(program), kPieces, kRounds);
}

TEST(PythonFrontendFuzzTest, CutPrograms) {
  for (const std::string_view program : kPrograms) FeedCut(program);
}

}  // namespace
}  // namespace allranks::tests
