// Which places several ranks of a job come to, and whether the work there is shared among them.
//
// For rules about what each rank repeats: writing a file, opening a log of the run. A function whose callers are not seen
// may be called on one rank only, and says nothing. One that is handed over as a value (`train(make_data=build)`) is run
// by those that hand it over, and a method that nobody here calls, of a class with a base of a known library (`Trainer`,
// `Callback`, `Dataset`), by those that make the object: the library calls it on each rank. That is unsound for a method
// that the library calls on one rank alone and that the knowledge base does not describe.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/objects/launch.h"
#include "analyzer/objects/loading.h"
#include "analyzer/objects/process_starts.h"
#include "analyzer/objects/program_index.h"

namespace allranks::objects {

class JobRuns {
 public:
  JobRuns(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
          const ProgramIndex& index, const Launch& launch, const Loading& loading);

  // By the ranks of a job, and not by the process that starts them.
  bool IsRunByRanks(const Site& site) const;
  // The same of the last place on a way: the ranks may be started on it. `way`: sites each of which calls the function of the next.
  bool IsRunByRanks(std::span<const Site> way) const;
  // By each process that the program starts, as it imports the file: what stands at the top of a file outside of `if __name__ == "__main__":`.
  // A process that is forked goes on with what was done there.
  bool IsRunByStarted(const Site& site) const;
  // Whether some file on the way there wraps a model, communicates, deals out data or asks for ranks: a group that is made and never used
  // makes no job of a script. `way`: sites each of which calls the function of the next.
  bool IsSharedWork(std::span<const Site> way) const;
  // Whether the lines of the project, where there are any, start ranks of something: else who starts a script on several is not
  // known, unless it starts them itself or is part of a package that no line starts by hand.
  bool IsStartedOnRanks(const Site& site) const;
  // Whether some function hands it over as a value, or it makes a job and is there for others to run.
  bool IsHandedOver(FuncId function) const { return handed_over_[function.index] || !givers_[function.index].empty() || launch_.MakesJob(function); }
  // Whether a `with` around a place, in its function, on the way or in one that calls it, holds what other processes wait for.
  bool IsInTurn(std::span<const Site> way) const;

 private:
  void NoteSharedWork(const Loading& loading);
  void NoteHandedOver(const variation::Facts& facts);
  void NoteGivers(const variation::Facts& facts);
  void NoteStarters(const variation::Facts& facts);
  void NoteJobs();
  void NoteOwnRanks();
  void NoteImportedAgain();
  void NoteStartedByHand();
  bool IsOfPackage(const Site& site) const;
  void AddGiven(const variation::ValueStore& store, FuncId by, ValueId value, int depth);
  void AddMethods(FuncId by, binding::ClassId made, bool by_name = false);
  static bool IsCalledByModule(std::string_view method);
  bool IsOverride(FuncId function) const;
  knowledge::EntryId OverriddenBy(binding::ClassId owner, base::NameId method) const;
  bool IsGuardedByLibrary(binding::ClassId owner, base::NameId method) const;
  void Descend(std::vector<bool>& functions) const;
  void NoteTurns(const variation::Facts& facts);
  void NoteTurn(const Site& site);
  bool MayHoldOthers(FuncId entered) const;
  void NoteBranch(const variation::Facts& facts, const Site& site);
  bool PartsRanks(const variation::Facts& facts, ir::ModuleId module, ir::ExprId test) const;
  bool NamesFirstRank(const variation::Facts& facts, ir::ModuleId module, ir::ExprId test) const;
  void NoteHeldLocks(const variation::Facts& facts, const std::unordered_set<uint32_t>& locks);
  static bool MayBeLock(const variation::ValueStore& store, ValueId value, const std::unordered_set<uint32_t>& locks);
  bool IsInTurn(const Site& site) const;
  bool IsOverriddenInTurn(FuncId function) const;
  bool IsReleasedBehind(ir::ModuleId module, ir::StmtId stmt) const;
  bool IsHeldAt(ir::ModuleId module, ir::StmtId stmt) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const ProgramIndex& index_;
  const Launch& launch_;
  ProcessStarts starts_;
  std::vector<bool> shares_work_;  // by module
  std::set<std::pair<uint32_t, uint32_t>> turns_;  // by module: `with` statements in which one process goes first
  std::set<std::pair<uint32_t, uint32_t>> branches_;  // the same: branches by rank in which one or the others wait
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> releases_;  // by module and function: where barriers begin
  std::vector<bool> handed_over_;  // by FuncId: to a library, by a file that is started (`app.run(main)`)
  std::vector<std::vector<FuncId>> givers_;  // by FuncId: who hands it over, or makes the object whose method a library calls
  std::vector<bool> of_job_, run_;  // by FuncId: as Jobs has it, what makes a job in other ways, and what those hand over
  std::vector<bool> start_ranks_;   // by FuncId: starts the processes of the job, or calls what does
  std::vector<bool> started_by_hand_;  // by ModuleId: a program that uses it is started by `python`, as lines have it
  std::vector<bool> imported_again_;  // by ModuleId: by the processes that a program starts
  std::vector<bool> has_own_ranks_;  // by ModuleId: a program that uses it starts ranks itself, by a trainer of Lightning or processes
};

}  // namespace allranks::objects
