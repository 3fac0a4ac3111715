#include "analyzer/objects/program_index.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class ProgramIndexTest : public ObjectsTest {
 protected:
  // The text of the innermost statement around a place; empty: none is.
  std::string StatementAt(std::string_view place) const {
    const ir::StmtId stmt = index().StatementAt(ir::ModuleId{0}, Position(place));
    if (!stmt) return "";
    const ir::Stmt& found = program().modules[ir::ModuleId{0}][stmt];
    return analysed().files[program().modules[ir::ModuleId{0}].file].text.substr(found.begin, found.end - found.begin);
  }
};

TEST_F(ProgramIndexTest, TheInnermostStatementAtAPlace) {
  Read("# nothing\ndef f(x):\n  if x:\n    print(x)\n  return x\n");
  EXPECT_EQ(StatementAt("print"), "print(x)");
  EXPECT_EQ(StatementAt("if x"), "if x:\n    print(x)");
  EXPECT_EQ(StatementAt("return"), "return x");
  EXPECT_EQ(StatementAt("# nothing"), "");
}

TEST_F(ProgramIndexTest, TheExpressionsOfAStretch) {
  Read("def f(x):\n  print(x + 1)\n  print(x)\n");
  const ir::Module& module = program().modules[ir::ModuleId{0}];
  const auto texts = [&](uint32_t begin, uint32_t end) {
    std::vector<std::string> out;
    for (const ir::ExprId id : index().ExprsBeginningIn(ir::ModuleId{0}, begin, end)) {
      out.push_back(analysed().files[module.file].text.substr(module[id].begin, module[id].end - module[id].begin));
    }
    return out;
  };
  const uint32_t sum = Position("x + 1");
  EXPECT_THAT(texts(sum, sum + 4), testing::UnorderedElementsAre("x + 1", "x", "1"));
  EXPECT_THAT(texts(sum, sum), testing::UnorderedElementsAre("x + 1", "x"));
  EXPECT_THAT(texts(sum + 1, sum + 3), testing::IsEmpty());
  EXPECT_EQ(texts(0, ~0u).size(), module.exprs.size());
}

TEST_F(ProgramIndexTest, QuestionsEndWhenTheRunDoes) {
  Read("def f(x):\n  dist.all_reduce(x)\n");
  ProgramIndex index(program(), knowledge(), facts());
  bool is_over = false;
  index.EndWhen([&] { return is_over; });
  EXPECT_FALSE(index.known_calls().empty());
  is_over = true;
  EXPECT_THROW((void)index.known_calls(), base::Cut);
  EXPECT_THROW((void)index.CallersOf(FuncId{0}), base::Cut);
  EXPECT_THROW((void)index.ExprsOf(ir::ModuleId{0}, ir::ExprKind::Call), base::Cut);
  EXPECT_THROW((void)index.StatementAt(ir::ModuleId{0}, 0), base::Cut);
  EXPECT_THROW((void)index.FunctionOf(ir::ModuleId{0}, ir::StmtId{0}), base::Cut);
  index.EndWhen({});
  EXPECT_FALSE(index.known_calls().empty());
}

}  // namespace
}  // namespace allranks::objects
