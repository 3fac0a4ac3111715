#include "analyzer/traces/history.h"

#include <gtest/gtest.h>

#include "analyzer/traces/test_program.h"

namespace allranks::traces {
namespace {

class HistoryTest : public TracesTest {
 protected:
  void SetUp() override {
    TracesTest::SetUp();
    made_ = values().Make(variation::Value::Unknown(values().NewSymbol(), {}, 0, variation::DerivedKind::Made), {});
  }

  TraceId Seq(std::initializer_list<TraceId> parts) { return traces().Seq(std::vector<TraceId>(parts)); }
  TraceId Fill(uint32_t place, Filling filling = Filling::Made) { return traces().Keep(At(place), made_, filling); }
  // `if not made: barrier(); made = True`
  TraceId Once(uint32_t place) {
    return If(place, made_, traces().Empty(), Seq({Barrier(place + 1), Fill(place + 2)}));
  }
  TraceId Walked(TraceId trace, bool is_entry = false) {
    Origins origins;
    return WithHistory(state(), trace, is_entry, &origins);
  }

  ValueId made_;
};

TEST_F(HistoryTest, NothingIsKnownAtTheBeginningOfAFunction) {
  EXPECT_EQ(Walked(Once(1)), If(1, made_, traces().Empty(), Barrier(2)));
}

TEST_F(HistoryTest, NothingIsMadeAtTheBeginningOfAProgram) { EXPECT_EQ(Walked(Once(1), true), Barrier(2)); }

TEST_F(HistoryTest, WhatWasMadeIsNotMadeAgain) {
  EXPECT_EQ(Walked(Seq({Once(1), Once(10)})), Walked(Once(1)));
  EXPECT_EQ(Walked(Seq({Once(1), Once(10)}), true), Barrier(2));
}

TEST_F(HistoryTest, RanksThatMadeItAreToldFromThoseThatDidNot) {
  const TraceId trace = Seq({If(20, RankIs(0), Once(1)), Once(10)});
  const TraceId first = If(20, RankIs(0), Barrier(2));
  EXPECT_EQ(Walked(trace, true), Seq({first, If(10, RankIs(0), traces().Empty(), Barrier(11))}));
}

TEST_F(HistoryTest, AnEarlyReturnKeepsWhatItKnows) {
  // `if made: return` and the rest: on both ways out it is made.
  const TraceId body = Seq({If(1, made_, Return(2)), Barrier(3), Fill(4)});
  const TraceId call = traces().Scope(At(5), FuncId{1}, body);
  EXPECT_EQ(Walked(Seq({call, Once(10)}), true), Walked(call, true));
}

TEST_F(HistoryTest, WhatIsEmptiedIsMadeAgain) {
  EXPECT_EQ(Walked(Seq({Once(1), Fill(5, Filling::Emptied), Once(10)}), true), Seq({Barrier(2), Barrier(11)}));
  const TraceId unknown = If(10, made_, traces().Empty(), Barrier(11));
  EXPECT_EQ(Walked(Seq({Once(1), Fill(5, Filling::Unknown), Once(10)}), true), Seq({Barrier(2), unknown}));
}

TEST_F(HistoryTest, ALoopMakesItInItsFirstRoundOnly) {
  const TraceId loop = traces().Loop(At(6), values().Int(3), Once(1));
  const TraceId walked = Walked(Seq({loop, Once(10)}), true);
  EXPECT_EQ(walked, traces().Loop(At(6), values().Int(3), If(1, made_, traces().Empty(), Barrier(2))));
  EXPECT_EQ(Walked(Seq({Once(20), loop}), true), Barrier(21));
}

TEST_F(HistoryTest, ATestOfMoreThanThatKeepsTheRest) {
  const ValueId setting = values().Fresh({});
  const ValueId both[] = {setting, values().Not(made_)};
  const TraceId once = If(1, values().And(both), Seq({Barrier(2), Fill(3)}));
  EXPECT_EQ(Walked(once, true), If(1, setting, Barrier(2)));
  EXPECT_EQ(Walked(Seq({Once(10), once}), true), Barrier(11));
}

}  // namespace
}  // namespace allranks::traces
