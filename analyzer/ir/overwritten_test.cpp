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
  ExprId Flag() { return builder_.Attribute({0, 1}, Name("self"), Id("flag")); }
  // `self.flag = name`
  StmtId Store(std::string_view name) {
    const ExprId targets[] = {target_ = Flag()};
    if (!first_) first_ = target_;
    return builder_.Assign({0, 1}, targets, Name(name));
  }
  // Whether the first store is replaced, which is the first statement.
  bool IsReplaced(const std::vector<StmtId>& body) {
    const BlockId block = builder_.Block(body);
    builder_.EditFunction(kTopLevel).body = block;
    const Module module = builder_.Finish();
    const Position path[] = {{.block = block}};
    return IsSurelyReplaced(module, path, first_);
  }

  base::Interner interner_;
  Builder builder_;
  ExprId first_, target_;
};

TEST_F(OverwrittenTest, ALaterStoreReplaces) { EXPECT_TRUE(IsReplaced({Store("mine"), Store("agreed")})); }

TEST_F(OverwrittenTest, NothingReplacesTheLast) { EXPECT_FALSE(IsReplaced({Store("mine")})); }

TEST_F(OverwrittenTest, WhatIsHandedOnIsSeen) {
  EXPECT_FALSE(IsReplaced({Store("mine"), builder_.ExprStmt({0, 1}, Name("self")), Store("agreed")}));
}

TEST_F(OverwrittenTest, ReadingTheFieldIsNotHandingItOn) {
  EXPECT_TRUE(IsReplaced({Store("mine"), builder_.ExprStmt({0, 1}, Flag()), Store("agreed")}));
}

}  // namespace
}  // namespace allranks::ir
