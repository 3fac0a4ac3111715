#include "analyzer/objects/guards.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class GuardsTest : public ObjectsTest {
 protected:
  // The tests on the way to what is handed to `asked(...)`, each with a `not` before it where it must fail.
  std::vector<std::string> Of(const std::string& body) {
    Read("def f(a, b, items):\n" + body);
    return Spelled(Guards(program(), index()).Of(Asked()));
  }
  std::vector<std::string> Spelled(const std::vector<Guard>& guards) const {
    std::vector<std::string> spelled;
    for (const Guard& guard : guards) {
      const ir::Module& module = program().module_of(guard.function);
      const std::string& text = analysed().files[module.file].text;
      const ir::Expr& test = module[guard.test];
      spelled.push_back((guard.holds ? "" : "not ") + text.substr(test.begin, test.end - test.begin));
    }
    std::ranges::sort(spelled);
    return spelled;
  }
};

TEST_F(GuardsTest, BranchesAround) {
  EXPECT_THAT(Of("  if a:\n    asked(1)\n"), ElementsAre("a"));
  EXPECT_THAT(Of("  if a:\n    pass\n  else:\n    asked(1)\n"), ElementsAre("not a"));
  EXPECT_THAT(Of("  if a:\n    pass\n  elif b:\n    asked(1)\n"), ElementsAre("b", "not a"));
}

TEST_F(GuardsTest, EarlierOnesThatLeave) {
  EXPECT_THAT(Of("  if a:\n    return\n  asked(1)\n"), ElementsAre("not a"));
  EXPECT_THAT(Of("  for b in items:\n    if a:\n      continue\n    asked(1)\n"), ElementsAre("not a"));
  EXPECT_THAT(Of("  if a:\n    print(b)\n  asked(1)\n"), IsEmpty());
}

TEST_F(GuardsTest, OperandsBefore) {
  EXPECT_THAT(Of("  return a and b.run(asked(1))\n"), ElementsAre("a"));
  EXPECT_THAT(Of("  return asked(1) if a else b\n"), ElementsAre("a"));
}

TEST_F(GuardsTest, AssertionsStandBeside) {
  Read("def f(a):\n  assert a\n  asked(1)\n");
  const Guards guards(program(), index());
  const Site asked = Asked();
  EXPECT_THAT(Spelled(guards.Of(asked)), IsEmpty());
  EXPECT_THAT(Spelled(guards.AssertionsBefore(asked.function, index().StatementOf(asked))), ElementsAre("a"));
}

TEST_F(GuardsTest, WhatALoopAsksBeforeEachRound) {
  Read("def f(a, items):\n  for item in items:\n    while a:\n      asked(1)\n");
  EXPECT_THAT(Spelled(Guards(program(), index()).LoopsAround(Asked())), ElementsAre("a", "items"));
}

}  // namespace
}  // namespace allranks::objects
