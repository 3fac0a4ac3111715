#include "analyzer/objects/program_index.h"

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
  index.EndWhen({});
  EXPECT_FALSE(index.known_calls().empty());
}

}  // namespace
}  // namespace allranks::objects
