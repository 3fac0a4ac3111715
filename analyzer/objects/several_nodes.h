// Which files belong to programs that are made for several nodes: only there is the global rank another number than the local one.
//
// A program is, if the user says so, if a line starts it on several, if it asks for the number of nodes or for its own among them
// (`NODE_RANK`), or takes a node as an option (`--nnodes`). So is one that reads what Slurm says of ranks and nodes, or counts ranks on
// a node by itself (`rank % torch.cuda.device_count()`), unless there are lines that start it, or its project, and all of them on one node.
//
// Not sound: whoever starts a program that says nothing of nodes may still have several. What is read of them in a file that some
// program of the project shares counts for all programs that use this file.
#pragma once

#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/launch.h"

namespace allranks::objects {

class SeveralNodes {
 public:
  SeveralNodes(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const Launch& launch);

  bool Has(ir::ModuleId module) const;

 private:
  bool IsStartedOnOne(ir::ModuleId module) const;
  const variation::Facts& facts_;
  const Launch& launch_;
  binding::Neighbourhood neighbourhood_;
  std::vector<bool> asks_for_nodes_, counts_with_nodes_;  // by ModuleId
};

}  // namespace allranks::objects
