// Places of a program that no process gets to in which the job is made: another mode of the same script.
//
// `if args.plot_only: plot() else: train()` where only `train` makes the process group, or a branch that writes the
// settings down and exits before the group is made. Such a mode is started by hand, as one process, whatever the file is
// started with else. A place is apart from the job if a call that makes one stands beside it, in its function or in one
// on the way there, where no run comes by both: in the other arm of a branch, or behind a block that is left. If some
// call that makes a job can be met on the way, or none is seen at all, nothing is said.
#pragma once

#include <span>
#include <vector>

#include "analyzer/objects/launch.h"
#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class JobPlaces {
 public:
  JobPlaces(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
            const ProgramIndex& index, const Launch& launch);

  // `way`: sites each of which calls the function of the next.
  bool IsApart(std::span<const Site> way) const;

 private:
  enum class Meets : uint8_t { Unknown, Never, Perhaps };
  // `ends_program`: what is called there exits.
  Meets MeetsHere(const Site& site, bool ends_program) const;
  Meets MeetsInCallers(FuncId function, bool ends_program, std::vector<FuncId>& seen) const;
  bool MayMeet(const Site& maker, const Site& site, bool ends_program) const;
  bool IsLeftBefore(FuncId function, ir::StmtId stmt, ir::BlockId common) const;
  bool EndsProgram(const Site& site) const;
  bool Exits(FuncId function, ir::StmtId stmt) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  std::vector<std::vector<ir::ExprId>> makers_;  // by FuncId: calls that make a job, themselves or far below
};

}  // namespace allranks::objects
