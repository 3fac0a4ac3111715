// Feeds the fuzz target with damaged modules and answers: the same ones every time.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "analyzer/ir/serialize.h"
#include "frontends/cpp/exchange.h"
#include "frontends/python/lower.h"
#include "tests/fuzz/feed.h"

namespace allranks::tests {
namespace {

constexpr std::string_view kProgram = R"py(import a.b as c
class K(c.B):
    @c.d
    def f(self, x: int = 1, *y, **z):
        for i, (j, k) in x: yield [i async for i in j if k]
        try: return {**z, "k": lambda: self.f[1:2](*y)}
        except E as e: raise
        match x:
            case [1, *r] if r: del x.y
)py";

std::string Module() {
  base::Interner names;
  const auto file = source::MakeSourceFile("a.py", std::string(kProgram));
  return ir::Serialize(python::Lower(*file, source::FileId{0}, names), names);
}

std::string Reply() {
  return cpp::Write(cpp::Reply{.parts = {{.path = "/p/a.cpp", .bytes = 9, .module = Module()}}, .error_count = 1,
                               .errors = {{.path = "/p/a.cpp", .offset = 1, .length = 2, .text = "no"}},
                               .asked = {{.path = "/p/a.h", .told = cpp::Told::Text, .hash = {1, 2}}}, .is_complete = true});
}

constexpr std::array<std::string_view, 6> kPieces = {std::string_view("\0\0\0\0", 4), "\xff\xff\xff\xff", std::string_view("\1\0\0\0", 4),
                                                     "\x7f", "\x80", std::string_view("\0", 1)};

TEST(IrFuzzTest, Damaged) {
  constexpr int kRounds = 3000;
  FeedMutated(Module(), kPieces, kRounds);
  FeedMutated(Reply(), kPieces, kRounds);
}

TEST(IrFuzzTest, Cut) {
  FeedCut(Module());
  FeedCut(Reply());
}

}  // namespace
}  // namespace allranks::tests
