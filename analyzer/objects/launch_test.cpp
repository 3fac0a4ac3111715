#include "analyzer/objects/launch.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

using findings::Assumption;

class LaunchTest : public ObjectsTest {
 protected:
  // What several ranks in the function `work` of a file take for granted.
  findings::Assumptions AssumedForWork(const std::string& text, const LaunchLines& lines = {}) {
    Read(text);
    const Launch launch(program(), knowledge(), facts(), index(), lines);
    for (uint32_t f = 0; f < program().funcs.size(); ++f) {
      if (program().text(program().function(FuncId{f}).name) == "work") return launch.AssumedForRanks(FuncId{f});
    }
    ADD_FAILURE() << "no function `work`";
    return {};
  }
};

constexpr const char* kProgram = "import torch.distributed as dist\ndef work():\n  print(dist.get_rank())\ndist.init_process_group('nccl')\nwork()\n";

constexpr const char* kDealer =
    "import torch.distributed as dist\nfrom torch.utils.data import DistributedSampler\ndef work(data):\n  return DistributedSampler(data)\n"
    "dist.init_process_group('nccl')\nwork([])\n";

// Whoever deals data out to ranks is meant to be started on several; of others it is a doubt.
TEST_F(LaunchTest, CommandsThatStartOthersOnly) {
  EXPECT_TRUE(AssumedForWork(kDealer, {{.path = "folder/other.py", .starts_ranks = true}}).has(Assumption::LaunchUnseen));
  EXPECT_TRUE(AssumedForWork(kProgram, {{.path = "folder/other.py", .starts_ranks = true}}).has(Assumption::ProgramUnlaunched));
  EXPECT_TRUE(AssumedForWork(kProgram).empty());
  EXPECT_TRUE(AssumedForWork(kProgram, {{.path = "folder/other.py", .starts_ranks = true}, {.path = "train.py", .starts_ranks = true}}).empty());
}

// It makes a job, and nobody is seen to start several of it.
TEST_F(LaunchTest, CommandsThatStartOneProcess) {
  EXPECT_TRUE(AssumedForWork(kProgram, {{.path = "train.py"}}).has(Assumption::OwnJob));
  const LaunchLines lines = {{.path = "train.py"}};
  const Launch launch(program(), knowledge(), facts(), index(), lines);
  for (uint32_t f = 0; f < program().funcs.size(); ++f) EXPECT_EQ(launch.Of(FuncId{f}), RunBy::AllRanks);
}

// What a launcher starts is a rank, whatever the program shows: with one process only by what it is told.
TEST_F(LaunchTest, ALauncherThatStartsOneProcess) {
  const LaunchLines lines = {{.path = "train.py", .is_job_of_one = true}};
  EXPECT_TRUE(AssumedForWork("def work():\n  print(1)\nwork()\n", lines).has(Assumption::OwnJob));
  const Launch launch(program(), knowledge(), facts(), index(), lines);
  for (uint32_t f = 0; f < program().funcs.size(); ++f) EXPECT_EQ(launch.Of(FuncId{f}), RunBy::AllRanks);
}

TEST_F(LaunchTest, AProgramThatStartsItsRanksNeedsNoCommand) {
  const std::string spawn = "import torch.multiprocessing as mp\nimport torch.distributed as dist\ndef work(rank):\n"
                            "  dist.init_process_group('nccl', rank=rank, world_size=4)\nmp.spawn(work, nprocs=4)\n";
  EXPECT_TRUE(AssumedForWork(spawn, {{.path = "folder/other.py", .starts_ranks = true}}).empty());
}

}  // namespace
}  // namespace allranks::objects
