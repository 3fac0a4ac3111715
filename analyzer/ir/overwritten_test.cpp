#include "analyzer/ir/overwritten.h"

#include <gtest/gtest.h>

#include "analyzer/ir/builder.h"

namespace allranks::ir {
namespace {

class OverwrittenTest : public testing::Test {
 protected:
  OverwrittenTest() : builder_(source::FileId{0}, Language::Python, 100) { builder_.StartFunction({.name = Id("<module>"), .end = 100}); }

  NameId Id(std::string_view name) { return interner_.Intern(name); }
  ExprId Name(std::string_view name) { return builder_.Name({0, 1}, Id(name)); }
  ExprId Field() { return builder_.Attribute({0, 1}, Name("self"), Id("flag")); }
  ExprId Item(std::string_view key) { return builder_.Subscript({0, 1}, Name("flags"), builder_.Text({0, 1}, ConstantKind::Str, Id(key))); }
  StmtId Store(ExprId target) {
    if (!first_) first_ = target;
    const ExprId targets[] = {target};
    return builder_.Assign({0, 1}, targets, Name("value"));
  }
  StmtId Call(std::string_view function) { return builder_.ExprStmt({0, 1}, builder_.Call({0, 1}, Name(function), {})); }
  // Whether the first store is replaced, which is the first statement.
  bool IsReplaced(const std::vector<StmtId>& body) {
    const Module module = Built(body);
    return IsSurelyReplaced(module, path_, first_);
  }
  // The same of a variable. Calls of `run` run code of the program.
  bool IsReplacedUnread(const std::vector<StmtId>& body) {
    const Module module = Built(body);
    const Readers readers{.runs = [&](ExprId call) { return NameOf(module[CalleeOf(module[call])]) == Id("run"); },
                          .imports = [](ImportId) { return true; }};
    return IsSurelyReplacedUnread(module, path_, first_, readers);
  }

  base::Interner interner_;
  Builder builder_;

 private:
  Module Built(const std::vector<StmtId>& body) {
    path_ = {{.block = builder_.Block(body)}};
    builder_.EditFunction(kTopLevel).body = path_[0].block;
    return builder_.Finish();
  }

  ExprId first_;
  std::vector<Position> path_;
};

TEST_F(OverwrittenTest, ALaterStoreReplaces) { EXPECT_TRUE(IsReplaced({Store(Field()), Store(Field())})); }

TEST_F(OverwrittenTest, NothingReplacesTheLast) { EXPECT_FALSE(IsReplaced({Store(Field())})); }

TEST_F(OverwrittenTest, WhatIsHandedOnIsSeen) {
  EXPECT_FALSE(IsReplaced({Store(Field()), builder_.ExprStmt({0, 1}, Name("self")), Store(Field())}));
}

TEST_F(OverwrittenTest, ReadingTheFieldIsNotHandingItOn) {
  EXPECT_TRUE(IsReplaced({Store(Field()), builder_.ExprStmt({0, 1}, Field()), Store(Field())}));
}

TEST_F(OverwrittenTest, ALaterStoreOfAVariableReplaces) { EXPECT_TRUE(IsReplacedUnread({Store(Name("flag")), Store(Name("flag"))})); }

TEST_F(OverwrittenTest, AnotherVariableDoesNot) { EXPECT_FALSE(IsReplacedUnread({Store(Name("flag")), Store(Name("other"))})); }

TEST_F(OverwrittenTest, CodeOfTheProgramInBetweenReads) {
  EXPECT_FALSE(IsReplacedUnread({Store(Name("flag")), Call("run"), Store(Name("flag"))}));
}

TEST_F(OverwrittenTest, CodeOfALibraryDoesNot) {
  EXPECT_TRUE(IsReplacedUnread({Store(Name("flag")), Call("print"), Store(Name("flag"))}));
}

TEST_F(OverwrittenTest, AnItemIsReplacedUnderItsKey) { EXPECT_TRUE(IsReplacedUnread({Store(Item("main")), Store(Item("main"))})); }

TEST_F(OverwrittenTest, AnItemIsNotReplacedUnderAnotherKey) { EXPECT_FALSE(IsReplacedUnread({Store(Item("main")), Store(Item("last"))})); }

TEST_F(OverwrittenTest, AnItemDoesNotReplaceTheTable) { EXPECT_FALSE(IsReplacedUnread({Store(Name("flags")), Store(Item("main"))})); }

}  // namespace
}  // namespace allranks::ir
