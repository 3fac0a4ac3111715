#include "analyzer/objects/known_tests.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class KnownTestsTest : public ObjectsTest {
 protected:
  // Whether what is handed to `asked(...)` may be made with `wanted` there; the function has the parameters `train`, `mode` and `x`.
  bool MayBe(const std::string& body, pipeline::Memory* memory = nullptr) {
    Read("wanted = 77\ndef f(train, mode, x):\n" + body, memory);
    const Guards guards(program(), index());
    KnownTests tests(program(), facts(), guards);
    const Site asked = Asked();
    tests.Add(asked.function, index().StatementOf(asked));
    const ValueId value = facts().value(ir::ModuleId{0}, asked.expr);
    return tests.MayHold(value, [&](ValueId part) {
      const variation::Value& is = facts().values_store[part];
      return is.count() == 77u;
    });
  }
};

TEST_F(KnownTestsTest, TheSameTestAgain) {
  EXPECT_FALSE(MayBe("  a = 77 if train else 78\n  if not train:\n    asked(a)\n"));
  EXPECT_TRUE(MayBe("  a = 77 if train else 78\n  if train:\n    asked(a)\n"));
  EXPECT_TRUE(MayBe("  a = 77 if train else 78\n  if x:\n    asked(a)\n"));
}

TEST_F(KnownTestsTest, WhatItWasMadeWith) {
  EXPECT_FALSE(MayBe("  a = 77 if train else 78\n  b = [x, a]\n  if not train:\n    asked(b)\n"));
  EXPECT_TRUE(MayBe("  a = 77 if train else 78\n  b = [x, a]\n  if x:\n    asked(b)\n"));
}

TEST_F(KnownTestsTest, OneOfSeveralConstants) {
  EXPECT_FALSE(MayBe("  a = 77 if mode == 'train' else 78\n  if mode == 'test':\n    asked(a)\n"));
  EXPECT_FALSE(MayBe("  a = 77 if mode != 'train' else 78\n  if mode == 'train':\n    asked(a)\n"));
  EXPECT_TRUE(MayBe("  a = 77 if mode == 'train' else 78\n  if mode != 'test':\n    asked(a)\n"));
}

TEST_F(KnownTestsTest, PartsOfACondition) {
  EXPECT_FALSE(MayBe("  a = 77 if train and x else 78\n  if not train:\n    asked(a)\n"));
  EXPECT_TRUE(MayBe("  a = 77 if train or x else 78\n  if not train:\n    asked(a)\n"));
  EXPECT_FALSE(MayBe("  a = 77 if train else 78\n  if x and not train:\n    asked(a)\n"));
  EXPECT_TRUE(MayBe("  a = 77 if train else 78\n  if x or not train:\n    asked(a)\n"));
}

// What a function is handed, as its first caller hands it over, is no longer all there is once another caller was seen.
TEST_F(KnownTestsTest, WhatAllCallersPass) {
  const std::string f = "  b = 1 if train else 2\n  kept.append(b)\n  a = 77 if settings.train else 78\n  if not train:\n    asked(a)\n";
  const std::string shared = "kept = []\nsettings = read()\n";
  const std::string one = f + shared + "def g():\n  f(settings.train, 0, 0)\n";
  const std::string two = f + shared + "def g():\n  f(settings.train, 0, 0)\n  f(False, 0, 0)\n";
  EXPECT_FALSE(MayBe(one));
  EXPECT_TRUE(MayBe(two));
  pipeline::Memory memory;
  EXPECT_FALSE(MayBe(one, &memory));
  EXPECT_FALSE(MayBe(one + "  kept.clear()\n", &memory));
  EXPECT_TRUE(MayBe(two, &memory));
  EXPECT_TRUE(MayBe(two + "  kept.clear()\n", &memory));
  EXPECT_FALSE(MayBe(one, &memory));
  EXPECT_EQ(memory.variation.update(), 5u);
  EXPECT_EQ(memory.variation.begun_at(), 1u);
}

}  // namespace
}  // namespace allranks::objects
