// Which code runs in a job of several processes.
#pragma once

#include <vector>

#include "analyzer/objects/neighbourhood.h"
#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class Jobs {
 public:
  Jobs(const binding::Program& program, const ProgramIndex& index);

  // Whether a file sets up a process group, wraps a model or communicates, or is imported by one that does.
  bool IsDistributed(ir::ModuleId module) const { return distributed_[module.index]; }
  // Whether a function is run by the top level of a file, as far as its callers are seen.
  bool IsRun(FuncId function) const { return run_[function.index]; }

 private:
  void FollowCalls(const binding::Program& program, const ProgramIndex& index);

  std::vector<bool> distributed_;  // by ModuleId
  std::vector<bool> run_;          // by FuncId
};

}  // namespace allranks::objects
