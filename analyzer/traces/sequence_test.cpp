#include "analyzer/traces/sequence.h"

#include <gtest/gtest.h>

namespace allranks::traces {
namespace {

class SequenceTest : public ::testing::Test {
 protected:
  // An operation of a kind; `place` is where it stands, which does not matter for being the same.
  SeqId Op(uint64_t kind, SeqId next = kNothing, uint32_t place = 0) {
    Item item{.kind = ItemKind::Op, .has_effect = true, .origin = TraceId{place}, .a = {}, .b = {}, .next = next};
    item.token = item.detail = Token(1, kind, 0);
    return store.Add(item);
  }
  SeqId Rooted(int64_t root, SeqId next = kNothing) {
    Item item{.kind = ItemKind::Op, .has_effect = true, .origin = {}, .a = {}, .b = {}, .next = next};
    item.token = Token(1, 77, 0);
    item.root = root;
    item.detail = Token(item.token, static_cast<uint64_t>(root), 1);
    return store.Add(item);
  }
  SeqId Many(int count, SeqId next = kNothing) {
    for (int i = 0; i < count; ++i) next = Op(static_cast<uint64_t>(i), next);
    return next;
  }

  SeqId Loop(SeqId body, SeqId next = kNothing) { return store.Add(LoopOf(store, {}, 7, body, next)); }

  SequenceStore store;
};

TEST_F(SequenceTest, PlacesDoNotMatter) {
  EXPECT_TRUE(store.Same(Op(1, Op(2), 10), Op(1, Op(2, kNothing, 12), 11)));
  EXPECT_FALSE(store.Same(Op(1, Op(2)), Op(2, Op(1))));
  EXPECT_FALSE(store.Same(Op(1), kNothing));
}

TEST_F(SequenceTest, ALongCallIsTheSameAsItsOperationsInLine) {
  const SeqId callee = Many(40);
  const SeqId called = store.Append(callee, Op(99));
  EXPECT_EQ(store[called].kind, ItemKind::Sub);
  EXPECT_TRUE(store.Same(called, Many(40, Op(99))));
  EXPECT_FALSE(FirstDifference(store, called, Many(40, Op(99))).has_value());
}

TEST_F(SequenceTest, DifferenceIsFoundInsideACall) {
  const SeqId called = store.Append(Many(40), Op(98, kNothing, 5));
  const std::optional<Parting> parting = FirstDifference(store, called, Many(40, Op(99, kNothing, 6)));
  ASSERT_TRUE(parting.has_value());
  EXPECT_EQ(store[parting->first].origin.index, 5u);
  EXPECT_EQ(store[parting->second].origin.index, 6u);
}

TEST_F(SequenceTest, AnOperationMayStandBeforeOrBehindALoopOfTheSame) {
  EXPECT_TRUE(store.Same(Op(1, Loop(Op(1), Op(2))), Loop(Op(1), Op(1, Op(2)))));
  EXPECT_TRUE(store.Same(Op(1, Loop(Op(2, Op(1)))), Loop(Op(1, Op(2)), Op(1))));
  EXPECT_TRUE(store.Same(Op(1, Op(2, Loop(Op(1, Op(2))))), Loop(Op(1, Op(2)), Op(1, Op(2)))));
  EXPECT_TRUE(store.Same(Op(1, Loop(Op(1), Loop(Op(1)))), Loop(Op(1), Loop(Op(1), Op(1)))));
  EXPECT_FALSE(store.Same(Op(1, Loop(Op(1, Op(2)))), Loop(Op(1, Op(2)), Op(1))));
  EXPECT_FALSE(store.Same(Op(1, Loop(Op(1))), Loop(Op(1))));
}

TEST_F(SequenceTest, ALoopThatIsLeftInTheMiddleStaysAsItIs) {
  const auto leaves = [&] {
    const Item exit{.kind = ItemKind::Break, .origin = {}, .a = {}, .b = {}, .next = kNothing, .token = 5, .detail = 5};
    return store.Add({.kind = ItemKind::Choice, .has_effect = true, .origin = {}, .a = store.Add(exit), .b = {}, .next = Op(1),
                      .token = 6, .detail = 6});
  };
  EXPECT_FALSE(store.Same(Op(1, Loop(leaves())), Loop(leaves(), Op(1))));
}

TEST_F(SequenceTest, OneListEndsEarlier) {
  const std::optional<Parting> parting = FirstDifference(store, Op(1), Op(1, Op(2, kNothing, 9)));
  ASSERT_TRUE(parting.has_value());
  EXPECT_EQ(parting->first, kNothing);
  EXPECT_EQ(store[parting->second].origin.index, 9u);
}

TEST_F(SequenceTest, KnownRootsAreComparedUnknownOnesAreNot) {
  const std::optional<Parting> parting = FirstDifference(store, Rooted(0), Rooted(1));
  ASSERT_TRUE(parting.has_value());
  EXPECT_TRUE(parting->same_operation);
  Item unknown{.kind = ItemKind::Op, .has_effect = true, .origin = {}, .a = {}, .b = {}, .next = kNothing};
  unknown.token = unknown.detail = Token(1, 77, 0);
  EXPECT_FALSE(FirstDifference(store, Rooted(0), store.Add(unknown)).has_value());
}

TEST_F(SequenceTest, AnUncaughtExceptionEndsTheJob) {
  EXPECT_EQ(Op(1, kRaised), kRaised);
  EXPECT_TRUE(store.Raises(store.Append(Op(1), kRaised)));
  EXPECT_FALSE(FirstDifference(store, kRaised, Op(1)).has_value());
}

TEST_F(SequenceTest, WhereOneRankRaisesTheOtherArmCounts) {
  const TraceId condition{7};
  const auto choice = [&](SeqId first, SeqId second) {
    Item item{.kind = ItemKind::Choice, .has_effect = true, .origin = condition, .a = first, .b = second, .next = kNothing};
    item.token = Token(3, store[first].hash, store[second].hash);
    item.detail = item.token;
    return store.Add(item);
  };
  const auto unless = [&](SeqId calm) {
    return store.Add({.kind = ItemKind::Unless, .has_effect = true, .origin = condition, .a = calm, .b = {}, .next = kNothing});
  };
  EXPECT_TRUE(store.Same(unless(Op(1)), Op(1)));
  EXPECT_FALSE(FirstDifference(store, unless(Op(1)), choice(Op(9), Op(1))).has_value());
  EXPECT_FALSE(FirstDifference(store, choice(Op(9), Op(1)), unless(Op(1))).has_value());
  EXPECT_TRUE(FirstDifference(store, unless(Op(2)), choice(Op(9), Op(1))).has_value());
  EXPECT_TRUE(FirstDifference(store, unless(kNothing), Op(1)).has_value());
  EXPECT_FALSE(FirstDifference(store, unless(kNothing), kNothing).has_value());
}

TEST_F(SequenceTest, ALoopInWhichARankMayRaiseIssuesNothingBesides) {
  const TraceId condition{7}, loop{8};
  const SeqId raising = store.Add({.kind = ItemKind::Unless, .origin = condition, .a = kNothing, .b = {}, .next = kNothing});
  const SeqId own = store.Add({.kind = ItemKind::Unless, .origin = loop, .a = kNothing, .b = raising, .next = Op(1)});
  const auto others = [&](SeqId second) {
    Item item{.kind = ItemKind::Choice, .has_effect = true, .origin = condition, .a = Op(9), .b = second, .next = kNothing};
    item.token = item.detail = Token(3, store[second].hash, 0);
    return store.Add(LoopOf(store, loop, 7, store.Add(item), Op(1)));
  };
  EXPECT_FALSE(FirstDifference(store, own, others(kNothing)).has_value());
  EXPECT_TRUE(FirstDifference(store, own, others(Op(2))).has_value());
  EXPECT_TRUE(store.Same(own, Op(1)));
}

TEST_F(SequenceTest, WhereARankMayEndInOneArmTheArmsAreComparedAsTheyAre) {
  const TraceId outer{6}, inner{7};
  const SeqId raising = store.Add({.kind = ItemKind::Unless, .origin = inner, .a = kNothing, .b = {}, .next = kNothing});
  const SeqId own = store.Add({.kind = ItemKind::Alike, .origin = outer, .a = kNothing, .b = raising, .next = Op(1)});
  const auto choice = [&](TraceId origin, SeqId first, SeqId second, SeqId next) {
    Item item{.kind = ItemKind::Choice, .has_effect = true, .origin = origin, .a = first, .b = second, .next = next};
    item.token = item.detail = Token(3, store[first].hash, store[second].hash);
    return store.Add(item);
  };
  const auto others = [&](SeqId calm) { return choice(outer, kNothing, choice(inner, Op(9), calm, kNothing), Op(1)); };
  EXPECT_TRUE(store.Same(own, Op(1)));
  EXPECT_FALSE(FirstDifference(store, own, others(kNothing)).has_value());
  EXPECT_FALSE(FirstDifference(store, others(kNothing), own).has_value());
  EXPECT_TRUE(FirstDifference(store, own, others(Op(2))).has_value());
  EXPECT_FALSE(FirstDifference(store, own, Op(1)).has_value());
}

TEST_F(SequenceTest, ABodyThatEndsInBreakRunsOnce) {
  Item stop{.kind = ItemKind::Break, .has_effect = false, .origin = {}, .a = {}, .b = {}, .next = kNothing};
  stop.token = stop.detail = Token(2, 0, 0);
  const SeqId body = Op(1, store.Add(stop));
  const std::optional<SeqId> once = store.ReplaceExit(body, Op(2));
  ASSERT_TRUE(once.has_value());
  EXPECT_TRUE(store.Same(*once, Op(1, Op(2))));
  EXPECT_FALSE(store.ReplaceExit(Op(1), Op(2)).has_value());
}

}  // namespace
}  // namespace allranks::traces
