#include "driver/reports/timeline.h"

#include <gtest/gtest.h>

namespace allranks::reports {
namespace {

witness::Op MakeOp(const std::string& id, const std::string& op, uint32_t line, const std::string& comm = "world") {
  return {.id = id, .op = op, .comm = comm, .redop = "", .source = "torch.distributed." + op, .at = {"a.py", line}};
}

witness::Witness TwoClasses(std::vector<witness::Op> first, std::vector<witness::Op> rest) {
  witness::Witness w{.finding = "", .world = 2};
  w.comms = {{"world", {0, 1}}};
  w.classes = {{"a", {0}, ""}, {"b", {1}, ""}};
  w.ops = {std::move(first), std::move(rest)};
  return w;
}

TEST(TimelineTest, RanksThatGoOnAndRanksThatWait) {
  witness::Witness w = TwoClasses({MakeOp("x", "broadcast", 3), MakeOp("y", "barrier", 5)}, {MakeOp("z", "broadcast", 4)});
  w.stuck = {{0, "y"}};
  EXPECT_EQ(DrawTimeline(w, "a.py", {}, 2, {}),
            "  rank 0  ──● broadcast :3 ──■ barrier :5  waits for rank 1\n"
            "  rank 1  ──● broadcast :4 ──────────────  goes on\n");
}

TEST(TimelineTest, WhatAllShareIsCutAndWhatNeverHappensIsLeftOut) {
  std::vector<witness::Op> first, rest;
  for (int i = 0; i < 5; ++i) first.push_back(MakeOp("s" + std::to_string(i), "barrier", 1));
  rest = first;
  first.push_back(MakeOp("y", "all_reduce", 5));
  first.push_back(MakeOp("never", "barrier", 6));
  rest.push_back(MakeOp("z", "broadcast", 7));
  witness::Witness w = TwoClasses(first, rest);
  w.stuck = {{0, "y"}, {1, "z"}};
  EXPECT_EQ(DrawTimeline(w, "a.py", {}, 0, {.ascii = true}),
            "after 3 steps that all ranks share:\n"
            "rank 0  --* barrier :1 --* barrier :1 --# all_reduce :5  waits for rank 1\n"
            "rank 1  --* barrier :1 --* barrier :1 --# broadcast :7   waits for rank 0\n");
}

TEST(TimelineTest, RootsAndGroupsAreToldInRanksOfTheJob) {
  witness::Op rooted = MakeOp("x", "broadcast", 3, "odd");
  rooted.root = 1;
  witness::Witness w = TwoClasses({MakeOp("y", "barrier", 4)}, {rooted});
  w.world = 4;
  w.comms = {{"world", {0, 1, 2, 3}}, {"odd", {1, 3}}};
  w.classes = {{"a", {0, 2}, ""}, {"b", {1, 3}, ""}};
  w.stuck = {{0, "y"}, {2, "y"}};
  EXPECT_EQ(DrawTimeline(w, "b.py", {}, 0, {}),
            "ranks 0 and 2  ──■ barrier a.py:4                                 wait for ranks 1 and 3\n"
            "ranks 1 and 3  ──● broadcast from rank 3 on ranks 1 and 3 a.py:3  go on\n");
}

TEST(TimelineTest, NothingToSee) {
  EXPECT_FALSE(ShowsDifference(TwoClasses({MakeOp("x", "barrier", 3)}, {MakeOp("z", "barrier", 4)})));
  EXPECT_TRUE(ShowsDifference(TwoClasses({MakeOp("x", "barrier", 3)}, {})));
}

TEST(TimelineTest, Corruption) {
  witness::Witness w = TwoClasses({MakeOp("x", "all_gather", 3)}, {MakeOp("z", "reduce_scatter", 4)});
  w.effect = witness::Effect::Corruption;
  EXPECT_EQ(DrawTimeline(w, "a.py", {}, 0, {}),
            "rank 0  ──● all_gather :3      gets wrong data\n"
            "rank 1  ──● reduce_scatter :4  gets wrong data\n");
}

}  // namespace
}  // namespace allranks::reports
