#include "analyzer/variation/path.h"

#include "analyzer/variation/parts_test.h"

namespace allranks::variation {
namespace {

class PathTest : public PartsTest {
 protected:
  Path path{store};
};

TEST_F(PathTest, AllConditionsTogether) {
  EXPECT_EQ(path.Condition(), store.True());
  const ValueId setting = Setting();
  path.Enter(setting);
  path.Enter(RankIs(0));
  const ValueId both[] = {setting, RankIs(0)};
  EXPECT_EQ(path.Condition(), store.And(both));
  EXPECT_TRUE(path.axes().has(Axis::Global));
  path.EnterOther();
  const ValueId other[] = {setting, store.Not(RankIs(0))};
  EXPECT_EQ(path.Condition(), store.And(other));
  path.Leave();
  EXPECT_TRUE(path.axes().empty());
}

TEST_F(PathTest, WhatCameOnTopSince) {
  path.Enter(RankIs(0));
  const size_t outer = path.BeginLoop();
  path.BeginStatement();
  EXPECT_FALSE(path.WithinStatement());
  const ValueId setting = Setting();
  path.Enter(setting);
  EXPECT_EQ(path.WithinStatement(), setting);
  EXPECT_EQ(path.WithinLoop(), setting);
  path.EndLoop(outer);
  const ValueId both[] = {RankIs(0), setting};
  EXPECT_EQ(path.WithinLoop(), store.And(both));
}

TEST_F(PathTest, AProcessThatIsAlone) {
  const ValueId devices = store.Coordinate(knowledge::Coordinate::LocalWorldSize);
  path.Enter(store.Compare(ir::CompareOp::Greater, devices, store.Int(1)));
  EXPECT_FALSE(path.IsAlone(tables, {}));
  path.EnterOther();
  EXPECT_TRUE(path.IsAlone(tables, {}));
}

}  // namespace
}  // namespace allranks::variation
