#include "analyzer/objects/local_flow.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LocalFlowTest : public ObjectsTest {
 protected:
  // The lines of the calls of `make` whose results go into what the function returns.
  std::vector<uint32_t> LinesInto(std::string text) {
    Read(std::move(text));
    const ir::ModuleId module_id{0};
    const ir::Module& module = program().modules[module_id];
    std::vector<uint32_t> lines;
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::StmtId stmt{i};
      if (module[stmt].kind != ir::StmtKind::Return) continue;
      const FuncId function = index().FunctionOf(module_id, stmt);
      const FlowInto flow(program(), index(), function, ir::ValueOf(module[stmt]));
      for (const ir::ExprId call : index().ExprsOf(module_id, ir::ExprKind::Call)) {
        const ir::Expr& callee = module[ir::CalleeOf(module[call])];
        const bool is_make = callee.kind == ir::ExprKind::Name && program().text(ir::NameOf(callee)) == "make";
        if (is_make && flow.Holds(call)) lines.push_back(Line({function, call}));
      }
    }
    std::ranges::sort(lines);
    return lines;
  }
};

TEST_F(LocalFlowTest, ThroughVariables) {
  EXPECT_THAT(LinesInto(R"(
def loss(x):
    a = make(x)
    b = make(x)
    c = a * 2
    return c.mean()
)"), ElementsAre(3));
}

TEST_F(LocalFlowTest, ThroughTuplesAndSums) {
  EXPECT_THAT(LinesInto(R"(
def loss(x):
    total = 0
    for part in x:
        a, b = make(part), 1
        total += b
    total += make(x)
    return total
)"), ElementsAre(5, 7));
}

TEST_F(LocalFlowTest, WhatRefersToItselfEnds) {
  EXPECT_THAT(LinesInto(R"(
def loss(x):
    a = make(x)
    while x:
        a = b + a
        b = a
    return b
)"), ElementsAre(3));
}

TEST_F(LocalFlowTest, DetachedBringsNoGradient) {
  EXPECT_THAT(LinesInto(R"(
def loss(x):
    a = make(x).detach()
    b = make(x).item()
    return a + b
)"), IsEmpty());
}

TEST_F(LocalFlowTest, AnotherFunctionsVariablesAreItsOwn) {
  EXPECT_THAT(LinesInto(R"(
def other(x):
    a = make(x)
    print(a)

def loss(x, a):
    return a
)"), IsEmpty());
}

}  // namespace
}  // namespace allranks::objects
