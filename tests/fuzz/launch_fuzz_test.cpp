// Feeds the fuzz target with mutated launch files: the same ones every time.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "tests/fuzz/feed.h"

namespace allranks::tests {
namespace {

std::string Doubling(const std::string& first, const std::string& line) {
  constexpr int kTimes = 26;
  std::string text = first;
  for (int i = 0; i < kTimes; ++i) text += line;
  return text + "torchrun --nproc_per_node=2 train.py $A \"${A[@]}\" <<EOF\n$A\nEOF\n";
}

// The first byte is the number of the kind.
const std::array<std::string, 7> kTexts = {
    std::string(1, '\0') + "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:8\nset -a\nsource $(dirname \"$0\")/env.sh\n: ${N:=2}\n"
                           "HERE=\"$(cd \"${BASH_SOURCE%/*}\" && pwd)\"\nrun() {\n  srun torchrun --nproc_per_node=$1 \\\n    --nnodes=$((N + 1)) $HERE/train.py \"${@}\" &\n}\n"
                           "for i in 1 2; do run 8 --lr $i; done\nif [ -z \"$X\" ]; then X=4; fi\nsbatch <<EOF\n#!/bin/bash\n#SBATCH -N 2\ntorchrun train.py $X\nEOF\n",
    "\1N = 2\ntrain: data\n\t@torchrun --nproc_per_node=$(N) \\\n\t  train.py --seed $$RANDOM\n",
    "\2FROM pytorch AS a\nENV A 1\nENV B=2 C=\"3 4\"\nENTRYPOINT [\"torchrun\", \"--nproc_per_node=8\"]\nCMD [\"train.py\"]\nRUN deepspeed --include localhost:0,1 x.py\n",
    "\3num_nodes: 2\nresources: {accelerators: \"A100:8\"}\nenvs:\n  A: 1\nspec:\n  nprocPerNode: 8\n  tasks:\n  - replicas: 2\n"
    "run: |\n  torchrun --nnodes=$SKYPILOT_NUM_NODES train.py\ncommand: [\"accelerate\", \"launch\", \"--config_file\", \"job.yaml\", \"x.py\"]\n"
    "environment: [\"A=1\", {name: B, value: 2}]\ndistributed_type: MULTI_GPU\nnum_processes: 8\n",
    "\4{\"zero_optimization\": {\"stage\": 2, \"offload_param\": {\"device\": \"cpu\"}}, \"fp16\": {\"enabled\": true}, \"x\": [1, -2.5e3, null]}",
    "\5# Page\n````md\n```bash\n$ torchrun --nproc_per_node NUM_GPUS train.py\n```\n````\n~~~sh\nmpirun -np 2 -x A=1 python x.py\n~~~\n",
    "\6# !accelerate launch \\\n#   --num_processes=1 train.py\npass  # !torchrun x.py\n"};

constexpr std::array<std::string_view, 26> kPieces = {"$(", ")", "${", "}", "\"", "'", "`", "<<EOF\n", "EOF\n", "\\\n", "&&", "|", "&", ";", "{{ x }}", "<X>", "#!/bin/sh\n",
                                                      "source x\n", "fi", "done", "- ", ": ", "[", "]", "*a", "\xff"};

TEST(LaunchFuzzTest, Mutated) {
  constexpr int kRounds = 400;
  for (const std::string& text : kTexts) FeedMutated(text, kPieces, kRounds);
}

// What doubles with each line stays small.
TEST(LaunchFuzzTest, Doubling) {
  const std::string shell(1, '\0');
  FeedText(Doubling(shell + "export A=xxxxxxxxxx\n", "A=$A$A\n"));
  FeedText(Doubling(shell + "A=xxxxxxxxxx\n", "A+=\" $A\"\n"));
  FeedText(Doubling(shell + "A=x\n", "A=${A:-1}${B:-$A}\n"));
  FeedText(Doubling(shell + "A=(x y)\n", "A=(\"${A[@]}\" \"${A[@]}\")\n"));
  FeedText(Doubling(shell + "A=(x y)\n", "A+=(\"${A[@]}\")\n"));
}

TEST(LaunchFuzzTest, Cut) {
  for (const std::string& text : kTexts) FeedCut(text);
}

}  // namespace
}  // namespace allranks::tests
