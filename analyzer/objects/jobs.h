// Which code runs in a job of several processes.
#pragma once

#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class Jobs {
 public:
  Jobs(const binding::Program& program, const ProgramIndex& index);

  // Whether a file sets up a process group, wraps a model or communicates, or is imported by one that does.
  bool IsDistributed(ir::ModuleId module) const { return distributed_[module.index]; }
  // Whether a function is run by the top level of a file, as far as its callers are seen, or by one that nobody is seen to
  // call and that sets up a job or wraps a model itself.
  bool IsRun(FuncId function) const { return run_[function.index]; }
  // Whether a function, or one that calls it, stands in a file that sets up a job or wraps a model.
  bool IsOfJob(FuncId function) const { return of_job_[function.index]; }

 private:
  static std::vector<uint32_t> FilesThatSetUp(const binding::Program& program, const ProgramIndex& index);
  static void FollowCalls(const ProgramIndex& index, std::vector<bool>& functions);

  std::vector<bool> distributed_;  // by ModuleId
  std::vector<bool> run_;          // by FuncId
  std::vector<bool> of_job_;       // by FuncId
};

}  // namespace allranks::objects
