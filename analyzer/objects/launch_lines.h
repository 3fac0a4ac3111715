// What the scripts and pages of a repository say of how its programs are started. Front ends for launch files fill it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace allranks::objects {

// `torchrun --nproc_per_node=8 tools/train.py`, `CUDA_VISIBLE_DEVICES=0 python demo.py`; or a configuration that no line names.
struct LaunchLine {
  std::string path;           // of the file that it starts, as paths of modules are given; empty: of none that is known
  bool starts_ranks = false;  // by a launcher of ranks; else one process
  bool is_job_of_one = false; // by a launcher that is told to start one process
  std::string strategy;       // "DEEPSPEED", "MULTI_GPU": what the launcher is told; empty: it says nothing
  int64_t nodes = 0;          // on which it starts ranks; 0: that is not said
  std::vector<std::string> options;  // of the script: "--deepspeed"
};

using LaunchLines = std::vector<LaunchLine>;

}  // namespace allranks::objects
