// Who runs a function: all ranks of a job, one process, the workers of a controller, a test.
//
// Signs (launch_signs.h) stand in functions. What a function or anything that it calls shows decides about it: who makes a
// process group is run by ranks. Where it shows nothing its callers decide, from the files that people start downwards. A
// method is run by those that make objects of its class, as far as they are seen: a name such as `step` is called from
// everywhere. A function that is handed over as a value (`launch(main)`, a table of commands) is run by whoever hands it
// over unless it shows something itself.
//
// A file that is started by hand (`if __name__ == "__main__"`), speaks to no ranks, and comes to no function that makes a job
// (named_functions.h) is run by one process. That is unsound where a file outside the project makes the job. Lines of scripts
// and pages that start it (launch_lines.h) tell more: ranks if a launcher does, one process if all start it by `python` and
// neither it nor what it uses starts ranks itself, and a job of one where launchers are told to start one process, no line
// starts more and the code does not ask for ranks and deal data out to them itself. So are the files that only such programs use. What makes
// a job there is code for ranks all the same, of which nobody is seen to start several: findings in it are possible. A line that
// starts ranks of a file that is not known may start any below the folder in which its own lies.
#pragma once

#include <span>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/findings/assumption.h"
#include "analyzer/objects/handed_classes.h"
#include "analyzer/objects/launch_lines.h"
#include "analyzer/objects/launch_signs.h"
#include "analyzer/objects/program_index.h"

namespace allranks::objects {

using knowledge::RunBy;

class Launch {
 public:
  Launch(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
         const ProgramIndex& index, std::span<const LaunchLine> lines = {});

  // As the program could be started: what makes a job is run by ranks, also where all commands start one process of it.
  RunBy Of(FuncId function) const { return run_by_[function.index]; }
  // Whether all commands that start it start one process: what is said of its ranks takes for granted that others do.
  bool IsStartedAsOne(FuncId function) const { return started_as_one_[function.index]; }
  // Of a place: what stands under `if __name__ == "__main__"` is run by those that start the file, and not by those that import it.
  RunBy Of(const Site& site) const;
  // Whether a function makes a job, itself or in what it calls.
  bool MakesJob(FuncId function) const { return makes_job_[function.index]; }
  // Whether it makes one by starting the processes itself, where no launcher has: by a trainer of Lightning, for example.
  bool StartsJob(FuncId function) const { return starts_job_[function.index]; }
  // Classes that the program hands over as values.
  std::span<const HandedClass> handed_classes() const { return handed_classes_; }
  // Lines that start anything.
  std::span<const LaunchLine> lines() const { return lines_; }
  // Those that start ranks of a program that uses a file.
  std::vector<const LaunchLine*> LinesFor(ir::ModuleId module) const;
  // Whether some line starts a program that uses a file on several nodes.
  bool IsOnSeveralNodes(ir::ModuleId module) const;
  // Whether there are lines that start it, and all of them do so on one node.
  bool IsOnOneNode(ir::ModuleId module) const;
  // Whether there are lines that start ranks of it, and all of them give each rank a device of its own.
  bool GivesOwnDevices(ir::ModuleId module) const;
  // Whether with some of them the launcher lets other ranks go on when one ends with an error.
  bool LeavesOthers(ir::ModuleId module) const;
  // The number of ranks that all of these lines start; 0: that is not said, or not by all alike.
  int64_t RanksFor(ir::ModuleId module) const;
  // Whether a program with it starts its ranks itself: by a trainer of Lightning, `mp.spawn` or a launcher that it calls.
  bool StartsItself(ir::ModuleId module) const { return starts_itself_[module.index]; }
  // Whether several ranks are seen to run a program with it: commands start them, or the program does.
  bool IsSeenOnRanks(ir::ModuleId module) const { return !lines_for_[module.index].empty() || StartsItself(module); }
  // Whether no program with it makes its process group (unmade_groups.h).
  bool NeverMakesGroup(ir::ModuleId module) const { return unmade_groups_[module.index]; }
  // Whether nothing in any program with it makes a process group or joins one: `is_initialized()` is false there.
  bool IsNeverInJob(ir::ModuleId module) const { return jobless_[module.index]; }
  // Whether the commands of the project start others on ranks, and no program with it (unlaunched_programs.h).
  bool IsPassedOver(ir::ModuleId module) const { return unlaunched_[module.index]; }
  // Whether commands start ranks of others, and none may start a program with it, which does not start ranks itself either.
  bool IsLaunchUnseen(ir::ModuleId module) const { return unseen_launches_[module.index]; }
  // Whether there are commands, and none is seen to start ranks of a program with it, which does not start them itself either: where all start one
  // process, too, and where one may start any file.
  bool IsNeverOnRanks(ir::ModuleId module) const { return !lines_.empty() && lines_for_[module.index].empty() && !StartsItself(module); }
  // What has to be taken for granted for several ranks to come here, as far as the code says that they do not.
  findings::Assumptions AssumedOf(FuncId function) const;
  // The same, and two more doubts. Nothing calls the function that would make the process group. Or commands start ranks of other programs,
  // and of none that uses this file: a light doubt where a program with it deals data out to ranks or makes their models alike, and a heavy
  // one where none does, as it may be meant for one process (of findings in such programs 4 of 10 were right, docs/precision.md).
  findings::Assumptions AssumedForRanks(FuncId function) const;

 private:
  std::vector<RunBy> run_by_;   // by FuncId
  std::vector<bool> started_as_one_;  // the same
  std::vector<bool> makes_job_;  // the same
  std::vector<bool> starts_job_; // the same
  std::vector<bool> unmade_groups_;
  std::vector<bool> jobless_;  // by ModuleId
  std::vector<bool> unlaunched_;     // the same
  std::vector<bool> unseen_launches_;  // the same
  std::vector<bool> trains_on_ranks_;  // the same
  std::vector<bool> starts_itself_;    // the same
  const binding::Program& program_;
  std::vector<HandedClass> handed_classes_;
  std::vector<bool> made_by_name_;  // by ClassId
  // By ModuleId: the bytes that are run only where the file is started, and by whom.
  struct MainBlock {
    uint32_t begin = 0;
    uint32_t end = 0;
    RunBy run_by = RunBy::Unknown;
  };
  std::vector<MainBlock> main_blocks_;
  std::span<const LaunchLine> lines_;
  std::vector<std::vector<uint32_t>> lines_for_;  // by ModuleId
};

}  // namespace allranks::objects
