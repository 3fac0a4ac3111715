// What the first process of a job has done before there are others.
//
// A script that is started by plain `python` and in which a trainer of Lightning starts the other processes is run by them
// from its beginning, too: but what stands before `trainer.fit` the first process has behind it by then. What it made, the
// others find. So it is with what stands before `mp.spawn`. That is unsound where a launcher (srun) starts all of them together.
#pragma once

#include <span>
#include <vector>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class FirstProcess {
 public:
  FirstProcess(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const ProgramIndex& index);

  // Whether the first process is through with a place before it starts the others. `way`: sites each of which calls the function of
  // the next.
  bool IsThroughWith(std::span<const Site> way) const;
  // Whether the library calls a function on one process, and has the others wait: `prepare_data`.
  bool IsLeftToIt(FuncId function) const;

 private:
  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const ProgramIndex& index_;
  std::vector<Site> starts_;  // of the others, and the calls on the way there
};

}  // namespace allranks::objects
