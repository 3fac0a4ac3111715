// Processes that the program starts by itself (`mp.spawn(worker, nprocs=n)`, `Process(target=worker)`): what the one
// process that starts them does, and what each of those does that it starts.
//
// A function may be both, where a script runs its worker itself if there is but one device. What a program is started
// with from outside (torchrun, srun) is not seen here.
#pragma once

#include <vector>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

struct ProcessStart {
  Site site;
  FuncId started;
  bool is_one = false;  // a helper beside the others: `Process(target=collect)` outside of any loop
};

class ProcessStarts {
 public:
  ProcessStarts(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index);

  const std::vector<ProcessStart>& starts() const { return starts_; }
  // Whether a function starts processes, or calls what does.
  bool IsParent(FuncId function) const { return parents_[function.index]; }
  // Whether a function is run by the processes that are started.
  bool IsStarted(FuncId function) const { return started_[function.index]; }
  // Whether each place that starts it starts just one.
  bool IsStartedAlone(FuncId function) const;

 private:
  static bool IsInLoop(const binding::Program& program, const ProgramIndex& index, const Site& site);

  std::vector<ProcessStart> starts_;
  std::vector<bool> parents_, started_;  // by FuncId
};

}  // namespace allranks::objects
