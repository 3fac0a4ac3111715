// What several callers pass, or several places store, joined: in whatever order they come, as often as they come, and never
// sharper than one of them alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analyzer/variation/tables.h"

namespace allranks::variation {
namespace {

class JoinLawsTest : public ::testing::Test {
 protected:
  ValueId Joined(const std::vector<ValueId>& values) {
    JoinTable table(store);
    for (const ValueId value : values) table.Record(1, 2, value);
    table.NextRound();
    return table.Read(1, 2);
  }

  // The axes of one axis alone, a number, a rank, nothing: what the code of a program holds.
  std::vector<ValueId> Pool() {
    std::vector<ValueId> pool = {store.NoneValue(), store.True(), store.Int(0), store.Int(7),
                                 store.Coordinate(knowledge::Coordinate::Rank), store.Coordinate(knowledge::Coordinate::WorldSize),
                                 store.Fresh({})};
    for (const Axis axis : {Axis::Data, Axis::Files, Axis::Local, Axis::TensorParallel}) pool.push_back(store.Fresh(Axes::Of(axis)));
    return pool;
  }

  ValueStore store;
};

TEST_F(JoinLawsTest, Idempotent) {
  for (const ValueId value : Pool()) EXPECT_EQ(Joined({value, value, value}), value);
}

TEST_F(JoinLawsTest, CommutativeInWhatVaries) {
  const std::vector<ValueId> pool = Pool();
  for (const ValueId a : pool) {
    for (const ValueId b : pool) EXPECT_EQ(store.axes(Joined({a, b})), store.axes(Joined({b, a})));
  }
}

TEST_F(JoinLawsTest, MonotoneAndNeverSharperThanAPart) {
  const std::vector<ValueId> pool = Pool();
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    std::vector<ValueId> parts;
    Axes all;
    Axes before;
    for (int n = 0; n < 4; ++n) {
      parts.push_back(pool[random() % pool.size()]);
      all = all | store.axes(parts.back());
      const Axes joined = store.axes(Joined(parts));
      EXPECT_EQ(Without(all, joined), Axes{});
      EXPECT_EQ(Without(before, joined), Axes{});
      before = joined;
    }
  }
}

}  // namespace
}  // namespace allranks::variation
