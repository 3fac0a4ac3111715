#include "analyzer/objects/definitions.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class DefinitionsTest : public ObjectsTest {
 protected:
  // Of what is handed to `asked(...)`: the lines of the assignments that it may see, "!" if one stands on every way.
  std::string Of(std::string text) {
    Read(std::move(text));
    const Definitions definitions(program(), index());
    const Site place = Asked();
    if (!place.expr) return "asked() is not called";
    const ir::Module& module = program().module_of(place.function);
    bool is_set_before = false;
    std::string lines;
    for (const Definition& each : definitions.Reaching(place, definitions.To(place.function, place.expr), is_set_before)) {
      const ir::ExprId shown = each.value ? each.value : ir::ValueOf(module[each.stmt]);
      lines += std::to_string(Line({place.function, shown})) + " ";
    }
    return lines + (is_set_before ? "!" : "");
  }
};

TEST_F(DefinitionsTest, TheLastBefore) {
  EXPECT_EQ(Of("a = 1\na = 2\nasked(a)\na = 3\n"), "2 !");
  EXPECT_EQ(Of("def f(a):\n    asked(a)\n    a = 2\n"), "");
}

TEST_F(DefinitionsTest, Branches) {
  EXPECT_EQ(Of("a = 1\nif b:\n    a = 2\nasked(a)\n"), "1 3 !");
  EXPECT_EQ(Of("a = 1\nif b:\n    a = 2\nelse:\n    asked(a)\n"), "1 !");
  EXPECT_EQ(Of("def f(a, b):\n    if b:\n        a = 2\n    asked(a)\n"), "3 ");
}

TEST_F(DefinitionsTest, Loops) {
  EXPECT_EQ(Of("a = 1\nfor x in y:\n    asked(a)\n    a = 2\n"), "1 4 !");
  EXPECT_EQ(Of("for x in y:\n    a = 1\n    asked(a)\n    a = 2\n"), "2 !");
}

TEST_F(DefinitionsTest, FieldsAndItems) {
  EXPECT_EQ(Of("class T:\n    def f(self):\n        self.a, b = make()\n        asked(self.a)\n"), "3 !");
  EXPECT_EQ(Of("class T:\n    def f(self, other):\n        other.a = 1\n        asked(self.a)\n"), "");
}

}  // namespace
}  // namespace allranks::objects
