#include "analyzer/objects/job_places.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class JobPlacesTest : public ObjectsTest {
 protected:
  // Whether the call of `work` of a program is apart from its job.
  bool IsApart(std::string text) {
    Read("import sys\ndef work():\n  print('here')\n" + std::move(text));
    const Launch launch(program(), knowledge(), facts(), index());
    const JobPlaces places(program(), knowledge(), facts(), index(), launch);
    for (uint32_t f = 0; f < program().funcs.size(); ++f) {
      if (program().text(program().function(FuncId{f}).name) != "work") continue;
      const auto callers = index().CallersOf(FuncId{f});
      EXPECT_EQ(callers.size(), 1u);
      return !callers.empty() && places.IsApart({&callers[0], 1});
    }
    ADD_FAILURE() << "no function `work`";
    return false;
  }
};

TEST_F(JobPlacesTest, TheOtherArm) {
  EXPECT_TRUE(IsApart("def main(args):\n  if args.plot:\n    work()\n  else:\n    dist.init_process_group('nccl')\nmain(sys)\n"));
  EXPECT_FALSE(IsApart("def main(args):\n  if args.multi:\n    dist.init_process_group('nccl')\n  work()\nmain(sys)\n"));
}

TEST_F(JobPlacesTest, TheOtherArmOfTheSameTest) {
  const std::string init = "def main(args):\n  if args.multi:\n    dist.init_process_group('nccl')\n";
  EXPECT_TRUE(IsApart(init + "  if args.multi:\n    print(1)\n  else:\n    work()\nmain(sys)\n"));
  EXPECT_TRUE(IsApart(init + "  if not args.multi:\n    work()\nmain(sys)\n"));
  EXPECT_FALSE(IsApart(init + "  if not args.fast:\n    work()\nmain(sys)\n"));
}

TEST_F(JobPlacesTest, ABranchThatLeavesFirst) {
  EXPECT_TRUE(IsApart("def main(args):\n  if args.plot:\n    work()\n    return\n  dist.init_process_group('nccl')\nmain(sys)\n"));
  EXPECT_FALSE(IsApart("def main(args):\n  dist.init_process_group('nccl')\n  if args.plot:\n    work()\n    return\nmain(sys)\n"));
}

TEST_F(JobPlacesTest, ReturningIsNotExiting) {
  const std::string train = "def train():\n  dist.init_process_group('nccl')\n";
  EXPECT_TRUE(IsApart(train + "def read(args):\n  if args.show:\n    work()\n    sys.exit(0)\nread(sys)\ntrain()\n"));
  EXPECT_FALSE(IsApart(train + "def read(args):\n  if args.show:\n    work()\n    return\nread(sys)\ntrain()\n"));
}

TEST_F(JobPlacesTest, WhatIsHandedOverComesFirst) {
  const std::string train = "def train(args):\n  dist.init_process_group('nccl')\n";
  EXPECT_TRUE(IsApart(train + "def read(args):\n  work()\n  sys.exit(0)\ntrain(read(sys))\n"));
  EXPECT_FALSE(IsApart(train + "def read(args):\n  work()\n  return args\ntrain(read(sys))\n"));
}

TEST_F(JobPlacesTest, NothingIsSaidWhereNoJobIsSeen) {
  EXPECT_FALSE(IsApart("def main(args):\n  if args.plot:\n    work()\nmain(sys)\n"));
}

}  // namespace
}  // namespace allranks::objects
