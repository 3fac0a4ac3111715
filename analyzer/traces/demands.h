// What a program demands of the number of ranks that it runs on, `assert world_size == 4`, `if world_size != 4: raise`, and of a rank that goes
// on. A function that does nothing else still says on which jobs, and on which ranks, its callers go on.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/variation/facts.h"

namespace allranks::traces {

// Whether a condition in `func` is the same on all ranks and asks for the number of ranks, itself or through what callers pass.
bool AsksForSizePassed(const variation::Facts& facts, variation::ValueId condition);

// Whether a condition says which jobs or which ranks go on, as far as that follows from the rank. Of any other it is taken that it is met.
bool IsDemand(const variation::Facts& facts, variation::ValueId condition);

// Whether `func` itself ends where such a condition does not hold.
bool MakesDemand(const binding::Program& program, const variation::Facts& facts, binding::FuncId func);

// What the programs with a file say of the jobs that they make.
class JobSizes {
 public:
  JobSizes(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts);

  // How many processes each job has that they start themselves, `mp.spawn(worker, nprocs=4)`; 0: that is not known, or not one number.
  uint32_t StartedWith(ir::ModuleId module) const;
  // Whether all jobs are of one node, as the local rank is taken for the rank in the job (`init_process_group(rank=local_rank)`): a second node
  // would come with the same ranks.
  bool IsOnOneNode(ir::ModuleId module) const;

  // Whether two programs of the same modules say the same.
  bool Same(const JobSizes& other) const { return starts_ == other.starts_ && inits_ == other.inits_; }

 private:
  struct Start {
    ir::ModuleId module;
    uint32_t count = 0;  // 0: not known
    bool operator==(const Start&) const = default;
  };
  struct Init {
    ir::ModuleId module;
    bool is_by_local_rank = false;
    bool operator==(const Init&) const = default;
  };
  void Note(ir::ModuleId module, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const variation::CallFact& call);

  std::optional<binding::Neighbourhood> neighbourhood_;  // none where nobody asks for it
  std::vector<Start> starts_;
  std::vector<Init> inits_;
  bool any_by_local_rank_ = false;
};

}  // namespace allranks::traces
