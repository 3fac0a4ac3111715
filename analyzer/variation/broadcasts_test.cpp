#include "analyzer/variation/broadcasts.h"

#include "analyzer/variation/parts_test.h"

namespace allranks::variation {
namespace {

class BroadcastsTest : public PartsTest {
 protected:
  // `broadcast(box, src=0)`: what the variable holds afterwards.
  ValueId Send(ValueId before) {
    const ValueId after = store.Uniform(before, Axes::Of(Axis::Global), store.NewSymbol());
    broadcasts.Note(before, after, store.Int(0));
    return after;
  }
  ValueId First(ValueId box) { return Derived("[]", {box, store.Int(0)}); }

  Containers containers{tables, ir::Language::Python};
  Broadcasts broadcasts{tables, containers};
};

// box = [found if rank == 0 else None]; broadcast(box); if rank != 0: found = box[0]
TEST_F(BroadcastsTest, WhatOthersTakeOutIsWhatTheRootPutIn) {
  const ValueId found = Setting();
  const ValueId box = Send(store.Select(RankIs(0), List({found}), List({store.NoneValue()})));
  const ValueId received = First(box);
  EXPECT_EQ(broadcasts.Joined(store.Not(RankIs(0)), received, found), received);
  EXPECT_EQ(broadcasts.Joined(RankIs(0), found, received), received);
}

TEST_F(BroadcastsTest, AnotherValueOrAnotherRankIsAChoice) {
  const ValueId found = Setting();
  const ValueId received = First(Send(List({found})));
  const ValueId other = store.Fresh({});
  EXPECT_EQ(broadcasts.Joined(RankIs(0), other, received), store.Select(RankIs(0), other, received));
  EXPECT_EQ(broadcasts.Joined(RankIs(1), found, received), store.Select(RankIs(1), found, received));
  const ValueId setting = Setting();
  EXPECT_EQ(broadcasts.Joined(setting, found, received), store.Select(setting, found, received));
}

// if rank == 0: box = [x]; broadcast(box)  else: box = [None]; broadcast(box); x = box[0]
TEST_F(BroadcastsTest, TheRootMaySendFromTheOtherArm) {
  const ValueId sent = Setting();
  Send(List({sent}));
  const ValueId received = First(Send(List({store.NoneValue()})));
  EXPECT_EQ(broadcasts.Joined(RankIs(0), sent, received), received);
}

}  // namespace
}  // namespace allranks::variation
