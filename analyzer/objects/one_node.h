// Which files belong to jobs of one node: there the rank in the default group is the local rank.
//
// A job has one node if its process group is made with as many ranks as this machine has devices, or if each process
// takes its index on this machine for its rank in the group (`mp.spawn(run)`, `init_process_group(rank=index)`): a
// second node would come with the same ranks. So it has where the function that makes the group has put the local host for the address at
// which the ranks meet. Which group a file works on is decided by what makes one in the file itself, else by
// the files of its programs; where none of these makes one, by all of the project.
#pragma once

#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/program_index.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

class Launch;

class OneNodeJobs {
 public:
  OneNodeJobs(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
              const ProgramIndex& index);

  bool Has(ir::ModuleId module) const;
  // Whether each process sees one device of its own there: its program hides the others by its rank
  // (`os.environ["CUDA_VISIBLE_DEVICES"] = str(local_rank)`), or what starts it gives it one, another file of the project or all commands, so
  // that device 0 is another one in each.
  bool SeesOwnDevice(ir::ModuleId module, const Launch& launch) const;

 private:
  // A call that makes the process group.
  struct Init {
    ir::ModuleId module;
    bool is_one_node = false;
  };
  bool IsOfOneNode(const KnownCall& call) const;
  bool MeetsHere(const KnownCall& init) const;
  bool IsUnconditional(ir::ModuleId module, ir::StmtId stmt) const;
  ValueId Stored(ir::ModuleId module, ir::StmtId stmt, std::string_view key) const;
  bool HidesDevices(ir::ModuleId module) const;
  bool IsStartedOnOwnDevice(ir::ModuleId module) const;
  bool NamesFile(ir::ModuleId module, std::string_view path) const;
  bool GivesOwnDevices(ir::ModuleId module) const;
  bool IsVisibleDevices(ir::ModuleId module, ir::ExprId key) const;
  bool IsOfRound(ir::ModuleId module, ir::ExprId value) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  Values values_;
  binding::Neighbourhood neighbourhood_;
  std::vector<Init> inits_;
};

}  // namespace allranks::objects
