#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/analysed_text.h"

namespace allranks::testing {
namespace {

using ::testing::ElementsAre;

TEST(Variation, RankSourcesAndPredicates) {
  const AnalysedText text = Analysed(R"py(
import os
import torch.distributed as dist
rank = dist.get_rank()
probe(rank)
probe(rank == 0)
probe(int(os.environ["LOCAL_RANK"]))
probe(dist.get_world_size())
)py");
  EXPECT_THAT(text.Probes(), ElementsAre("rank", "rank == 0", "local_rank", "world_size"));
}

TEST(Variation, OwnPredicateFunctionIsSeenThrough) {
  const AnalysedText text = Analysed(R"py(
import torch.distributed as dist
def get_rank():
    return dist.get_rank()
def is_main():
    return get_rank() == 0
probe(is_main())
probe(not is_main())
)py");
  EXPECT_THAT(text.Probes(), ElementsAre("rank == 0", "not (rank == 0)"));
}

TEST(Variation, FieldSetInOneMethodReadInAnother) {
  const AnalysedText text = Analysed(R"py(
import torch.distributed as dist
class Trainer:
    def __init__(self):
        self.rank = dist.get_rank()
        self.is_main = self.rank == 0
    def save(self):
        probe(self.is_main)
)py");
  EXPECT_THAT(text.Probes(), ElementsAre("rank == 0"));
}

TEST(Variation, ConstructorArgumentReachesField) {
  const AnalysedText text = Analysed(R"py(
import torch.distributed as dist
class Trainer:
    def __init__(self, number):
        self.number = number
    def save(self):
        probe(self.number)
Trainer(dist.get_rank())
)py");
  EXPECT_THAT(text.Probes(), ElementsAre("rank"));
}

TEST(Variation, ReducedValueIsUniform) {
  const AnalysedText text = Analysed(R"py(
import torch
import torch.distributed as dist
flag = torch.tensor(dist.get_rank())
probe(flag)
dist.all_reduce(flag)
probe(flag)
)py");
  EXPECT_THAT(text.Probes(), ElementsAre("varies by global rank", "uniform"));
}

TEST(Variation, ReductionInsideAHelperIsSeen) {
  const AnalysedText text = Analysed(R"py(
import torch
import torch.distributed as dist
def reduce(value):
    dist.all_reduce(value)
    return value / dist.get_world_size()
def train():
    flag = torch.tensor(dist.get_rank())
    total = reduce(flag)
    probe(total)
    probe(flag)
)py");
  EXPECT_THAT(text.Probes(), ElementsAre("uniform / world_size", "uniform"));
}

TEST(Variation, SyncDependence) {
  const AnalysedText text = Analysed(R"py(
import torch.distributed as dist
def f(a, b):
    if dist.get_rank() == 0:
        x = 1
    else:
        x = 2
    probe(x)
    y = 3
    probe(y)
)py");
  EXPECT_THAT(text.Probes(), ElementsAre("1 if (rank == 0) else 2", "3"));
}

TEST(Variation, WriterOfOneRankTellsTheRank) {
  const AnalysedText text = Analysed(R"py(
import torch.distributed as dist
writer = open("log") if dist.get_rank() == 0 else None
probe(writer is not None)
)py");
  ASSERT_EQ(text.Probes().size(), 1u);
  EXPECT_THAT(text.Probes()[0], ::testing::HasSubstr("rank == 0"));
}

TEST(Variation, TemporalDependence) {
  const AnalysedText text = Analysed(R"py(
import torch.distributed as dist
def f(items):
    count = 0
    for item in items[dist.get_rank()::dist.get_world_size()]:
        count += 1
    probe(count)
)py");
  EXPECT_THAT(text.Probes(), ElementsAre(::testing::HasSubstr("global rank")));
}

TEST(Variation, ParameterStaysAParameter) {
  const AnalysedText text = Analysed(R"py(
import torch.distributed as dist
def save(is_main):
    probe(is_main)
save(dist.get_rank() == 0)
save(True)
)py");
  EXPECT_THAT(text.Probes(), ElementsAre("is_main"));
}

TEST(Variation, NamesAcrossFiles) {
  const AnalysedText text({{"pkg/__init__.py", "from .comm import *\n"},
                           {"pkg/comm.py", "import torch.distributed as dist\n"
                                           "def is_main():\n    return dist.get_rank() == 0\n"},
                           {"train.py", "import torch.distributed\nfrom pkg import is_main as main\nprobe(main())\n"}});
  EXPECT_THAT(text.Probes(), ElementsAre("rank == 0"));
}

TEST(Variation, EnvironmentAndStructure) {
  const AnalysedText text = Analysed(R"py(
import os
import torch.distributed as dist
probe(os.path.exists("a"))
probe(os.environ.get("MASTER_ADDR") is None)
dist.barrier()
)py");
  EXPECT_THAT(text.Probes(), ElementsAre("varies by files on disk", "uniform is None"));
}

TEST(Variation, WhatHoldsInOneProcessAloneIsNoDifference) {
  const AnalysedText text = Analysed(R"py(
import os
import torch.distributed as dist
def answer(path):
    if not (dist.is_available() and dist.is_initialized()):
        return os.path.exists(path)
    return True
probe(answer("a"))
probe(dist.get_rank() if dist.get_world_size() > 1 else 0)
)py");
  EXPECT_THAT(text.Probes(), ElementsAre("True", "rank"));
}

TEST(Variation, LengthsOfListsThatGrowUnderAConditionOrInALoop) {
  const AnalysedText text = Analysed(R"py(
import os
import torch.distributed as dist
found = []
if os.path.exists("a"):
    found.append(1)
mine = [path for path in os.listdir(".")[dist.get_rank()::2]]
fixed = []
fixed.append(os.path.exists("a"))
probe(len(found))
probe(len(mine))
probe(len(fixed))
)py");
  const std::vector<std::string> probes = text.Probes();
  ASSERT_EQ(probes.size(), 3u);
  EXPECT_THAT(probes[0], ::testing::HasSubstr("files on disk"));
  EXPECT_THAT(probes[1], ::testing::HasSubstr("rank"));
  EXPECT_THAT(probes[2], ::testing::Not(::testing::HasSubstr("varies")));
}

TEST(Variation, ParametersOfHooksAreWhatTheFrameworkPasses) {
  const AnalysedText text = Analysed(R"py(
from lightning.pytorch.callbacks import Callback
class Log(Callback):
    def on_fit_end(self, trainer, pl_module):
        probe(trainer.is_global_zero)
)py");
  EXPECT_THAT(text.Probes(), ElementsAre("rank == 0"));
}

TEST(Variation, AxesOfRanksEndAtFunctionsOfFunctions) {
  const AnalysedText text = Analysed(R"py(
import torch
import torch.distributed as dist
import acme
part = acme.part(dist.get_rank())
probe(part)
probe(acme.describe(part))
probe(part[1:])
)py");
  const std::vector<std::string> probes = text.Probes();
  ASSERT_EQ(probes.size(), 3u);
  EXPECT_THAT(probes[0], ::testing::HasSubstr("global rank"));
  // Made of it, and itself the same on all ranks.
  EXPECT_EQ(probes[1], "f(varies by global rank)");
  EXPECT_THAT(probes[2], ::testing::HasSubstr("global rank"));
}

TEST(Variation, TypesOfLaterHandlersMayBeVariables) {
  const AnalysedText text = Analysed(R"py(
import torch.distributed as dist
def load(errors):
    try:
        rank = dist.get_rank()
    except ValueError:
        rank = 0
    except errors:
        rank = 1
    probe(dist.get_rank())
)py");
  EXPECT_THAT(text.Probes(), ElementsAre("rank"));
}

}  // namespace
}  // namespace allranks::testing
