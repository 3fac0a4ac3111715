#include "analyzer/objects/spread.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class SpreadTest : public ObjectsTest {
 protected:
  // Whether what the one call of `make` returns goes into what is handed to `asked(...)`.
  bool Goes(std::string text) {
    Read(std::move(text));
    const ir::ModuleId module_id{0};
    const ir::Module& module = program().modules[module_id];
    for (const ir::ExprId call : index().ExprsOf(module_id, ir::ExprKind::Call)) {
      const ir::Expr& callee = module[ir::CalleeOf(module[call])];
      if (callee.kind != ir::ExprKind::Name || program().text(ir::NameOf(callee)) != "make") continue;
      const Site from{index().FunctionOf(module_id, index().tree(module_id).StatementOf(call)), call};
      return Spread(program(), facts(), index(), from).Holds(Asked());
    }
    return false;
  }
};

TEST_F(SpreadTest, WithinAFunction) {
  EXPECT_TRUE(Goes(R"(
def run():
    rows, rest = make()
    asked(rows[:4])
)"));
  EXPECT_FALSE(Goes(R"(
def run(other):
    rows = make()
    rows = other
    asked(rows)
)"));
}

TEST_F(SpreadTest, HowManyThereAreSaysNothingOfThem) {
  EXPECT_FALSE(Goes(R"(
def run():
    rows = make()
    asked(len(rows))
)"));
}

TEST_F(SpreadTest, OutOfAHelperAndIntoOne) {
  EXPECT_TRUE(Goes(R"(
def rows_of(path):
    return list(make(path))

def use(path, rows):
    asked(rows)

def run():
    rows = rows_of("a")
    use("b", rows=rows)
)"));
  EXPECT_FALSE(Goes(R"(
def use(path, rows):
    asked(path)

def run():
    use("b", make())
)"));
}

TEST_F(SpreadTest, ThroughAField) {
  EXPECT_TRUE(Goes(R"(
class Rows:
    def __init__(self):
        self.rows = []
        self.rows.extend(make())

    def first(self):
        asked(self.rows[0])
)"));
  EXPECT_FALSE(Goes(R"(
class Rows:
    def __init__(self):
        self.rows = make()
        self.names = []

    def first(self):
        asked(self.names)
)"));
}

TEST_F(SpreadTest, ThroughAConstructor) {
  EXPECT_TRUE(Goes(R"(
class Rows:
    def __init__(self, rows):
        self.rows = rows

    def all(self):
        asked(self.rows)

def run():
    return Rows(make())
)"));
}

}  // namespace
}  // namespace allranks::objects
