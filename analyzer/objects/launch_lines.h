// What the scripts and pages of a repository say of how its programs are started. Front ends for launch files fill it.
#pragma once

#include <string>
#include <vector>

namespace allranks::objects {

// `torchrun --nproc_per_node=8 tools/train.py`, `CUDA_VISIBLE_DEVICES=0 python demo.py`.
struct LaunchLine {
  std::string path;           // of the file that it starts, as paths of modules are given
  bool starts_ranks = false;  // by a launcher of ranks; else one process
};

using LaunchLines = std::vector<LaunchLine>;

}  // namespace allranks::objects
