#include "driver/pipeline/launch_lines.h"

#include <gmock/gmock.h>

#include "driver/pipeline/pipeline.h"

namespace allranks::pipeline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr const char* kCode = "import torch.distributed as dist\ndist.barrier()\n";

// What the launch files among these say of the code among them: "path ranks", "path one".
std::vector<std::string> LinesOf(std::map<std::string, std::string> texts) {
  const source::MemoryFileSystem files(std::move(texts));
  Options options;
  options.paths = {"."};
  Analysed analysed;
  const base::Result<Output> output = Run(options, files, analysed);
  EXPECT_TRUE(output.has_value());
  std::vector<std::string> lines;
  for (const objects::LaunchLine& line : analysed.launch_lines) {
    lines.push_back(line.path + (line.starts_ranks ? " ranks" : line.is_job_of_one ? " job of one" : " one"));
    if (!line.strategy.empty()) lines.back() += " " + line.strategy;
  }
  return lines;
}

objects::LaunchLine FirstLineOf(const std::string& script) {
  const source::MemoryFileSystem files({{"train.py", kCode}, {"run.sh", script}});
  Options options;
  options.paths = {"."};
  Analysed analysed;
  EXPECT_TRUE(Run(options, files, analysed).has_value());
  return analysed.launch_lines.at(0);
}

int64_t NodesOf(const std::string& script) { return FirstLineOf(script).nodes; }
int64_t RanksOf(const std::string& script) { return FirstLineOf(script).ranks; }

TEST(LaunchLinesTest, LaunchersStartRanksAndPythonOneProcess) {
  EXPECT_THAT(LinesOf({{"train.py", kCode}, {"eval.py", kCode}, {"run.sh", "torchrun --nproc_per_node=8 train.py\npython eval.py\n"}}),
              UnorderedElementsAre("train.py ranks", "eval.py one"));
}

TEST(LaunchLinesTest, PathsAreThoseOfModulesWhereverTheProjectIs) {
  const source::MemoryFileSystem files({{"project/train.py", kCode}, {"project/run.sh", "torchrun --nproc_per_node=8 train.py\n"}});
  Options options;
  options.root = "project";
  options.paths = {"project"};
  Analysed analysed;
  EXPECT_TRUE(pipeline::Run(options, files, analysed).has_value());
  ASSERT_EQ(analysed.launch_lines.size(), 1u);
  EXPECT_EQ(analysed.launch_lines[0].path, analysed.program.infos[ir::ModuleId{0}].path);
}

TEST(LaunchLinesTest, ModulesAreNamedWithDots) {
  EXPECT_THAT(LinesOf({{"pkg/__init__.py", ""}, {"pkg/eval.py", kCode}, {"run.sh", "python3 -m pkg.eval --n 4\n"}}),
              ElementsAre("pkg/eval.py one"));
}

TEST(LaunchLinesTest, PackagesHaveAFileThatIsStarted) {
  EXPECT_THAT(LinesOf({{"pkg/__init__.py", ""}, {"pkg/__main__.py", kCode}, {"run.sh", "torchrun --nproc_per_node=2 -m pkg --n 4\n"}}),
              ElementsAre("pkg/__main__.py ranks"));
}

TEST(LaunchLinesTest, APageMayNameAFolderThatWasRenamed) {
  const char* page = "```sh\ntorchrun --nproc_per_node=2 ./old_name/train.py\n```\n";
  EXPECT_THAT(LinesOf({{"a/tools/train.py", kCode}, {"a/README.md", page}}), ElementsAre("a/tools/train.py ranks"));
  EXPECT_THAT(LinesOf({{"a/tools/train.py", kCode}, {"a/more/train.py", kCode}, {"a/README.md", page}}), ElementsAre(" ranks"));
  EXPECT_THAT(LinesOf({{"a/tools/train.py", kCode}, {"b/README.md", page}}), ElementsAre(" ranks"));
}

TEST(LaunchLinesTest, TheFileBesideIsMeant) {
  const std::map<std::string, std::string> texts = {
      {"a/main.py", kCode}, {"b/main.py", kCode}, {"a/README.md", "```sh\npython main.py\n```\n"}};
  EXPECT_THAT(LinesOf(texts), ElementsAre("a/main.py one"));
}

TEST(LaunchLinesTest, OfSeveralFilesNobodyKnowsWhichIsMeant) {
  EXPECT_THAT(LinesOf({{"a/main.py", kCode}, {"b/main.py", kCode}, {"c/run.sh", "torchrun main.py\n"}}), ElementsAre(" ranks"));
  EXPECT_THAT(LinesOf({{"a/main.py", kCode}, {"c/run.sh", "torchrun other.py\n"}}), IsEmpty());
}

TEST(LaunchLinesTest, ALauncherMayBeToldToStartOneProcess) {
  const std::string lines = "accelerate launch --num_processes=1 train.py\ntorchrun --nnodes=2 --nproc_per_node=1 eval.py\n";
  EXPECT_THAT(LinesOf({{"train.py", kCode}, {"eval.py", kCode}, {"run.sh", lines}}),
              UnorderedElementsAre("train.py job of one", "eval.py ranks"));
}

TEST(LaunchLinesTest, DeepSpeedStartsAProcessADeviceThatItIncludes) {
  const std::string lines = "deepspeed --include localhost:0 eval.py\ndeepspeed --include=localhost:0,1 train.py\n";
  EXPECT_THAT(LinesOf({{"train.py", kCode}, {"eval.py", kCode}, {"run.sh", lines}}), UnorderedElementsAre("eval.py job of one", "train.py ranks"));
}

TEST(LaunchLinesTest, TheSchedulerMayGiveOneDevice) {
  EXPECT_FALSE(FirstLineOf("CUDA_VISIBLE_DEVICES=3 python train.py\n").has_one_device);
  EXPECT_TRUE(FirstLineOf("#!/bin/bash\n#SBATCH --gres=gpu:1\npython train.py\n").has_one_device);
  EXPECT_FALSE(FirstLineOf("#!/bin/bash\n#SBATCH --gres=gpu:2\npython train.py\n").has_one_device);
  EXPECT_FALSE(FirstLineOf("#!/bin/bash\n#SBATCH --gres=gpu:1\n#SBATCH --nodes=2\npython train.py\n").has_one_device);
}

TEST(LaunchLinesTest, PagesImagesAndWorkflowsStartPrograms) {
  const auto lines = [](const char* path, const char* text) { return LinesOf({{"train.py", kCode}, {path, text}}); };
  EXPECT_THAT(lines("README.md", "Run `python train.py --fast` first.\n"), ElementsAre("train.py one"));
  EXPECT_THAT(lines("README.md", "Run `torchrun --nproc_per_node=8 train.py`.\n"), ElementsAre("train.py ranks"));
  EXPECT_THAT(lines("README.md", "As `torchrun other.py` does, or `python -m torch.distributed.launch`.\n"), IsEmpty());
  EXPECT_THAT(lines("README.md", "Run\n\n    python train.py\n"), ElementsAre("train.py one"));
  EXPECT_THAT(lines("Dockerfile", "FROM x\nCMD python train.py\n"), ElementsAre("train.py one"));
  EXPECT_THAT(lines("Dockerfile", "FROM x\nCMD [\"python\", \"train.py\"]\n"), ElementsAre("train.py one"));
  EXPECT_THAT(lines("Dockerfile", "FROM x\nCMD python other.py\n"), IsEmpty());
  EXPECT_THAT(lines(".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: |\n          pip install .\n          python train.py\n"),
              ElementsAre("train.py one"));
}

TEST(LaunchLinesTest, AStepHasTheTasksThatItsScriptAsksFor) {
  const auto is_of_one = [](const std::string& directives, const std::string& step = "srun python train.py\n") {
    return FirstLineOf("#!/bin/bash\n" + directives + step).is_job_of_one;
  };
  EXPECT_TRUE(is_of_one("#SBATCH --ntasks=1\n"));
  EXPECT_TRUE(is_of_one("#SBATCH -n 1\n#SBATCH --nodes=1\n"));
  EXPECT_TRUE(is_of_one("#SBATCH --gres=gpu:1\n"));
  EXPECT_TRUE(is_of_one("#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=1\n"));
  EXPECT_FALSE(is_of_one("#SBATCH --ntasks=4\n"));
  EXPECT_FALSE(is_of_one("#SBATCH --nodes=2\n"));
  EXPECT_FALSE(is_of_one("#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=8\n"));
  EXPECT_FALSE(is_of_one("#SBATCH --ntasks=$TASKS\n"));
  EXPECT_FALSE(is_of_one("#SBATCH --gpus=8\n#SBATCH --gpus-per-task=1\n"));
  EXPECT_FALSE(is_of_one("#SBATCH --ntasks=1\n", "srun -n 4 python train.py\n"));
  EXPECT_FALSE(is_of_one("", "srun python train.py\n"));
}

TEST(LaunchLinesTest, NodesAreThoseOfTheStep) {
  EXPECT_EQ(NodesOf("#!/bin/bash\n#SBATCH --nodes=2\nsrun python train.py\n"), 2);
  EXPECT_EQ(NodesOf("#!/bin/bash\n#SBATCH --nodes=2\nsrun -N 4 python train.py\n"), 4);
  EXPECT_EQ(NodesOf("#!/bin/bash\n#SBATCH --nodes=2\nsrun -n 1 python train.py\n"), 0);
  EXPECT_EQ(NodesOf("#!/bin/bash\n#SBATCH --nodes=2\nsrun torchrun train.py\n"), 0);
  EXPECT_EQ(NodesOf("torchrun train.py\n"), 1);
  EXPECT_EQ(NodesOf("srun python train.py\n"), 0);
}

TEST(LaunchLinesTest, SlurmAndLaunchersOfOtherNodesLetRanksGoOn) {
  const auto leaves = [](const std::string& script) { return FirstLineOf(script).leaves_others; };
  EXPECT_TRUE(leaves("srun --ntasks=8 python train.py\n"));
  EXPECT_FALSE(leaves("srun --ntasks=8 --kill-on-bad-exit=1 python train.py\n"));
  EXPECT_FALSE(leaves("srun -K --ntasks=8 python train.py\n"));
  EXPECT_TRUE(leaves("srun --ntasks=8 --kill-on-bad-exit=0 python train.py\n"));
  EXPECT_FALSE(leaves("export SLURM_KILL_BAD_EXIT=1\nsrun --ntasks=8 python train.py\n"));
  EXPECT_FALSE(leaves("torchrun --nproc_per_node=8 train.py\n"));
  EXPECT_TRUE(leaves("torchrun --nnodes=4 --nproc_per_node=8 train.py\n"));
  EXPECT_FALSE(leaves("mpirun -np 8 python train.py\n"));
}

TEST(LaunchLinesTest, RanksAreCountedWhereTheFileSaysHowMany) {
  EXPECT_EQ(RanksOf("torchrun --nproc_per_node=4 train.py\n"), 4);
  EXPECT_EQ(RanksOf("torchrun --nnodes=2 --nproc_per_node=4 train.py\n"), 8);
  EXPECT_EQ(RanksOf("accelerate launch --num_machines=2 --num_processes=16 train.py\n"), 16);
  EXPECT_EQ(RanksOf("srun -n 6 python train.py\n"), 6);
  EXPECT_EQ(RanksOf("mpirun -np 8 python train.py\n"), 8);
  EXPECT_EQ(RanksOf("torchrun --nproc_per_node=gpu train.py\n"), 0);
  EXPECT_EQ(RanksOf("torchrun --nproc_per_node=${GPUS:-8} train.py\n"), 0);
  EXPECT_EQ(RanksOf("torchrun $OPTIONS --nproc_per_node=8 train.py\n"), 0);
  EXPECT_EQ(RanksOf("srun torchrun --nproc_per_node=8 train.py\n"), 0);
  EXPECT_EQ(RanksOf("ssh $host torchrun --nproc_per_node=8 train.py\n"), 0);
}

TEST(LaunchLinesTest, NotebooksStartScriptsToo) {
  const std::string cell = R"({"cell_type": "code", "source": ["for i in range(3):\n", "    !accelerate launch \\\n", "      --num_processes=1 train.py\n"]})";
  const std::string notebook = R"({"nbformat": 4, "metadata": {"kernelspec": {"language": "python"}}, "cells": [)" + cell + "]}";
  EXPECT_THAT(LinesOf({{"a/train.py", kCode}, {"a/run.ipynb", notebook}}), ElementsAre("a/train.py job of one"));
}

TEST(LaunchLinesTest, TheStrategyStandsInTheConfigurationThatALineNames) {
  const std::string start = "accelerate launch --config_file=./plain.yaml train.py\naccelerate launch --use_fsdp eval.py\n";
  EXPECT_THAT(LinesOf({{"a/train.py", kCode}, {"a/eval.py", kCode}, {"a/run.sh", start},
                       {"a/plain.yaml", "distributed_type: MULTI_GPU\nnum_processes: 8\n"}}),
              UnorderedElementsAre("a/train.py ranks MULTI_GPU", "a/eval.py ranks FSDP", " ranks MULTI_GPU"));
}

}  // namespace
}  // namespace allranks::pipeline
