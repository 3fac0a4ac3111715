#include "analyzer/variation/one_process.h"

#include <gtest/gtest.h>

namespace allranks::variation {
namespace {

using ir::CompareOp;

class OneProcessTest : public ::testing::Test {
 protected:
  bool Is(CompareOp op, int64_t number) { return IsOfOneProcess(store, store.Compare(op, Devices(), store.Int(number))); }
  ValueId Devices() { return store.Coordinate(knowledge::Coordinate::LocalWorldSize); }
  ValueId Several() { return store.Compare(CompareOp::Greater, Devices(), store.Int(1)); }

  ValueStore store;
};

TEST_F(OneProcessTest, OnlyWhereOneIsWanted) {
  EXPECT_TRUE(Is(CompareOp::LessEq, 1));
  EXPECT_TRUE(Is(CompareOp::Less, 2));
  EXPECT_TRUE(Is(CompareOp::Eq, 1));
  EXPECT_TRUE(IsOfOneProcess(store, store.Not(Several())));
  EXPECT_FALSE(IsOfOneProcess(store, Several()));
  EXPECT_FALSE(Is(CompareOp::LessEq, 2));
  EXPECT_FALSE(Is(CompareOp::Less, 5));
  EXPECT_FALSE(Is(CompareOp::Less, 1));
}

TEST_F(OneProcessTest, BesideOtherConditions) {
  const ValueId setting = store.Fresh({});
  const ValueId both[] = {setting, store.Not(Several())};
  const ValueId many[] = {setting, Several()};
  EXPECT_TRUE(IsOfOneProcess(store, store.And(both)));
  EXPECT_FALSE(IsOfOneProcess(store, store.Or(both)));
  EXPECT_FALSE(IsOfOneProcess(store, store.Not(store.And(many))));
  EXPECT_TRUE(IsOfOneProcess(store, store.Not(store.Or(many))));
  EXPECT_FALSE(IsOfOneProcess(store, setting));
}

}  // namespace
}  // namespace allranks::variation
