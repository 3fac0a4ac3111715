#include "analyzer/ir/overwritten_names.h"

#include <gtest/gtest.h>

#include "analyzer/ir/builder.h"

namespace allranks::ir {
namespace {

class OverwrittenNamesTest : public testing::Test {
 protected:
  OverwrittenNamesTest() : builder_(source::FileId{0}, Language::Python, 100) { builder_.StartFunction({.name = Id("<module>"), .end = 100}); }

  NameId Id(std::string_view name) { return interner_.Intern(name); }
  ExprId Name(std::string_view name) { return builder_.Name({0, 1}, Id(name)); }
  ExprId Item(std::string_view key) { return builder_.Subscript({0, 1}, Name("flags"), builder_.Text({0, 1}, ConstantKind::Str, Id(key))); }
  StmtId Store(ExprId target) {
    if (!first_) first_ = target;
    const ExprId targets[] = {target};
    return builder_.Assign({0, 1}, targets, Name("value"));
  }
  StmtId Call(std::string_view function) { return builder_.ExprStmt({0, 1}, builder_.Call({0, 1}, Name(function), {})); }
  // Whether the first store is replaced, which is the first statement. Calls of `run` run code of the program.
  bool IsReplaced(const std::vector<StmtId>& body) {
    const BlockId block = builder_.Block(body);
    builder_.EditFunction(kTopLevel).body = block;
    const Module module = builder_.Finish();
    const Position path[] = {{.block = block}};
    const Readers readers{.runs = [&](ExprId call) { return NameOf(module[CalleeOf(module[call])]) == Id("run"); },
                          .imports = [](ImportId) { return true; }};
    return IsSurelyReplacedUnread(module, path, first_, readers);
  }

  base::Interner interner_;
  Builder builder_;
  ExprId first_;
};

TEST_F(OverwrittenNamesTest, ALaterStoreReplaces) { EXPECT_TRUE(IsReplaced({Store(Name("flag")), Store(Name("flag"))})); }

TEST_F(OverwrittenNamesTest, AnotherVariableDoesNot) { EXPECT_FALSE(IsReplaced({Store(Name("flag")), Store(Name("other"))})); }

TEST_F(OverwrittenNamesTest, CodeOfTheProgramInBetweenReads) {
  EXPECT_FALSE(IsReplaced({Store(Name("flag")), Call("run"), Store(Name("flag"))}));
}

TEST_F(OverwrittenNamesTest, CodeOfALibraryDoesNot) {
  EXPECT_TRUE(IsReplaced({Store(Name("flag")), Call("print"), Store(Name("flag"))}));
}

TEST_F(OverwrittenNamesTest, AnItemIsReplacedUnderItsKey) {
  EXPECT_TRUE(IsReplaced({Store(Item("main")), Store(Item("main"))}));
}

TEST_F(OverwrittenNamesTest, AnItemIsNotReplacedUnderAnotherKey) {
  EXPECT_FALSE(IsReplaced({Store(Item("main")), Store(Item("last"))}));
}

TEST_F(OverwrittenNamesTest, AnItemDoesNotReplaceTheTable) {
  EXPECT_FALSE(IsReplaced({Store(Name("flags")), Store(Item("main"))}));
}

}  // namespace
}  // namespace allranks::ir
