#include "analyzer/variation/process_start.h"

#include "analyzer/variation/program_test.h"

namespace allranks::variation {
namespace {

class ProcessStartTest : public ProgramTest {
 protected:
  std::vector<ProcessStart> Started(knowledge::Role role, ValueId arguments, std::span<const LoopVariable> around = {}) {
    knowledge::Entry entry;
    entry.params = {Name("fn"), Name("args")};
    entry.roles = {{.role = role, .param = Name("fn")}};
    const ValueId passed[] = {store().Make(Value::Function(Function("worker")), {}), arguments};
    return ProcessStarts(tables(), {.site = 0, .entry = entry, .by_param = passed, .receiver = {}, .args = {}, .around = around});
  }
};

TEST_F(ProcessStartTest, TheNumberOfTheProcessIsTheRankOnOneNode) {
  Read("def worker(index, options):\n    pass\n");
  const ValueId options[] = {store().Int(7)};
  const auto started = Started(knowledge::Role::StartsWithIndex, store().Tuple(options));
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].function, Function("worker"));
  const Value& index = store()[started[0].values[0]];
  EXPECT_TRUE(IsCoordinate(index, knowledge::Coordinate::Rank));
  EXPECT_NE(index.flags & kOneNode, 0);
  EXPECT_EQ(started[0].values[1], store().Int(7));
}

TEST_F(ProcessStartTest, ACounterWithTheNameOfARankIsTheRank) {
  Read("def worker(rank, other):\n    pass\n");
  const ValueId arguments[] = {store().Fresh({}), store().Fresh({})};
  const auto started = Started(knowledge::Role::StartProcesses, store().Tuple(arguments));
  ASSERT_EQ(started.size(), 1u);
  EXPECT_TRUE(IsCoordinate(store()[started[0].values[0]], knowledge::Coordinate::Rank));
  EXPECT_EQ(started[0].values[1], arguments[1]);
}

TEST_F(ProcessStartTest, WhatALoopCountsFromZeroIsTheNumberOfTheProcess) {
  Read("def worker(gpu, size):\n    pass\n");
  const ValueId count = store().Fresh({});
  const ValueId first = store().Int(0), second = store().Int(1);
  const auto range = [&](std::span<const ValueId> bounds) { return store().Derived(tables().NameSymbol("builtins.range"), bounds); };
  const ValueId from_zero[] = {first, count}, from_one[] = {second, count};
  const ValueId number = store().Fresh({});
  const ValueId arguments[] = {number, count};
  const auto is_rank = [&](ValueId sequence) {
    const LoopVariable around[] = {{.variable = number, .sequence = sequence}};
    const auto started = Started(knowledge::Role::StartProcesses, store().Tuple(arguments), around);
    return IsCoordinate(store()[started.at(0).values[0]], knowledge::Coordinate::Rank);
  };
  EXPECT_TRUE(is_rank(range({&count, 1})));
  EXPECT_TRUE(is_rank(range(from_zero)));
  EXPECT_FALSE(is_rank(range(from_one)));
  EXPECT_FALSE(is_rank(count));
  const ValueId listed[] = {first, second};
  EXPECT_TRUE(is_rank(store().Tuple(listed)));
  EXPECT_FALSE(is_rank(store().Tuple(from_one)));
}

TEST_F(ProcessStartTest, WhatStartsNothingStartsNothing) {
  Read("def worker(rank):\n    pass\n");
  EXPECT_TRUE(Started(knowledge::Role::ReadFile, {}).empty());
}

}  // namespace
}  // namespace allranks::variation
