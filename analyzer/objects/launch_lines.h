// What the scripts and pages of a repository say of how its programs are started. Front ends for launch files fill it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "analyzer/base/folder.h"
#include "analyzer/source/span.h"

namespace allranks::objects {

// `--accum_iter 4`, `--fp16`.
struct GivenOption {
  std::string name;                  // "--accum_iter"
  std::optional<std::string> value;  // none: none is given, or it is not known
};

// Of a line that stands at the root: it may mean any file, and tells nothing of one.
inline constexpr const char* kRootFolder = ".";

// `torchrun --nproc_per_node=8 tools/train.py`, `CUDA_VISIBLE_DEVICES=0 python demo.py`; or a configuration.
struct LaunchLine {
  std::string path;           // of the file that it starts, as paths of modules are given; empty: of one that is not known
  bool starts_ranks = false;  // by a launcher of ranks; else one process
  bool is_job_of_one = false; // by a launcher that is told to start one process
  bool is_of_lines = false;   // a configuration that lines name
  std::string configuration;  // the file that it is, if it is one
  bool has_one_device = false; // one process that sees one device: the machine has no more, or a launcher of one process is given it
  bool has_own_devices = false;  // each of the processes sees one device, another one than the others of its node
  std::string strategy;       // "DEEPSPEED", "MULTI_GPU": what the launcher is told; empty: it says nothing
  bool leaves_others = false;  // where a rank ends with an error, its launcher lets others go on
  int64_t nodes = 0;          // on which it starts ranks, at least; 0: that is not said
  int64_t ranks = 0;          // that it starts on all of them; 0: that is not said, or is left to whoever starts it
  source::Span place = {};    // where its launcher stands
  std::vector<GivenOption> options;  // of the script
  GivenOption first_word = {};  // the first argument of the script, without a name, where that is no option; no value: it is one, or not known
  // Of a line that starts a file of the project, but it is not known which: the folder that it is in. None: of all others.
  std::optional<std::string> unknown_below;
  std::string unknown_name;  // of such a file, without its folder; empty: it may have any

  // Whether it may start a file; one at the root of which nobody knows what it starts may start any.
  bool MayBeOf(std::string_view file) const {
    const bool may_be_any = unknown_below && *unknown_below == kRootFolder && unknown_name.empty();
    return may_be_any || MayStart(file);
  }
  // Whether it starts a file, or may.
  bool MayStart(std::string_view file) const {
    if (!unknown_below) return path == file;
    return base::IsBelow(file, *unknown_below) && (unknown_name.empty() || file.substr(file.rfind('/') + 1) == unknown_name);
  }
};

using LaunchLines = std::vector<LaunchLine>;

// Files that some lines may start, asked for one file after the other: most lines name one, and many name the same.
class StartedFiles {
 public:
  explicit StartedFiles(std::span<const LaunchLine> lines, bool (*counts)(const LaunchLine&) = [](const LaunchLine&) { return true; });
  bool MayHold(std::string_view file) const;

 private:
  std::unordered_set<std::string_view> named_;
  std::vector<const LaunchLine*> unknown_;  // of which it is not known, one for each folder and name
};

}  // namespace allranks::objects
