// Feeds the fuzz target with mutations of small distributed programs: the same ones every time.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <string_view>

#include "tests/fuzz/feed.h"

namespace allranks::tests {
namespace {

constexpr std::array<std::string_view, 4> kPrograms = {
    R"py(import torch.distributed as dist
rank = dist.get_rank()
def save(x, group=None):
    if rank == 0 and x:
        dist.barrier(group)
        return
    for i in range(rank): dist.all_reduce(x)
save(save(rank))
)py",
    R"py(class A(B):
    def __init__(self, f): self.f, self.x = f, [f]
    def run(self, *a, **k):
        try: return self.f(*a) or self.run(k)
        except (E, F): dist.broadcast(self.x[0], src=rank)
        finally: self.x += [rank]
A(lambda x: A(x).run(rank)).run()
)py",
    R"py(g = [dist.new_group(list(range(i, world))) for i in range(4)]
with torch.no_grad(), g[rank] as h:
    x = {k: v for k, v in zip(h, g) if k in g}
    while x and (n := len(x)) > rank: x.pop(n); dist.send(x, dst=(rank + 1) % n)
    match x:
        case [a, *b] if a: dist.recv(b, a)
        case {"k": v}: yield dist.gather(v)
)py",
    R"py(def f(g, n): return g(f, n - 1) if n > rank else g
def h(g, n): return f(h, g(n)) + f(f, n)
x = y = "a" * rank
x = x + y + f(h, x)(f, y)
if x == y: sys.exit(f"{x}{y}")
assert dist.is_initialized() and os.environ.get("RANK", x) == "0"
)py"};

constexpr std::array<std::string_view, 30> kPieces = {
    "rank", "x",      "f(",   ")",      "[",       "]",     " == ",   " and ", " or ",     "not ",
    "if ",  "else: ", "for ", "while ", "return ", "yield", "lambda", ", ",    "\n    ",   "\n",
    "self", ".",      " = ",  " += ",   "import ", "*",     "dist.",  "0",     "barrier(", "with "};

TEST(AnalysisFuzzTest, MutatedPrograms) {
  constexpr int kRounds = 60;
  for (const std::string_view program : kPrograms) FeedMutated(std::string(program), kPieces, kRounds);
}

constexpr std::string_view kNotebook =
    R"json({"cells": [{"cell_type": "code", "source": ["import torch.distributed as dist\n", "rank = dist.get_rank()\n"]},
{"cell_type": "markdown", "source": "text"}, {"cell_type": "code", "source": "%time x\nif rank == 0:\n    dist.barrier()"}],
"metadata": {"language_info": {"name": "python"}}, "nbformat": 4})json";

constexpr std::array<std::string_view, 12> kNotebookPieces = {"{", "}", "[", "]", "\"", "\\n", ",", "dist.barrier()", "\"source\": ", "\"code\"", "if rank: ", "!"};

TEST(AnalysisFuzzTest, MutatedNotebooks) {
  constexpr int kRounds = 150;
  FeedMutated(std::string(kNotebook), kNotebookPieces, kRounds);
}

TEST(AnalysisFuzzTest, ProgramsOfManyShapes) {
  constexpr int kMade = 150;
  constexpr size_t kChoices = 400;
  std::minstd_rand random(1);
  for (int program = 0; program < kMade; ++program) {
    std::string choices(1, '\0');
    while (choices.size() < kChoices) choices.push_back(static_cast<char>(random() >> 8));
    SCOPED_TRACE(program);
    FeedText(choices);
  }
}

}  // namespace
}  // namespace allranks::tests
