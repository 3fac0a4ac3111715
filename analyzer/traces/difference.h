// Turns two diverging ranks into a Difference: what it is, where it is, how certain it is.
#pragma once

#include <string>
#include <vector>

#include "analyzer/traces/project.h"

namespace allranks::traces {

// What the comparison found out about one difference.
struct Evidence {
  DifferenceKind kind{};
  FuncId function;
  TraceId root;             // the trace of `function`
  TraceId node;             // the choice, loop or try where the ranks diverge; none: at the operation itself
  TraceId culprit;
  TraceId victim;
  TraceId exit;             // the exit that skips the culprit
  uint32_t handler = 0;
  knowledge::Axes axes;     // Shape of a count: along which it varies
  bool own = false;         // decided by each rank's own values and not by the world
  bool by_presence = false; // of these: by whether a batch has some part
  bool keeps_others_out = false;  // of these: on some ranks alone, as the world decides it on the others (`rank == 0 and loss > limit`)
  findings::Assumptions assumptions;  // what the comparison took for granted
  bool admits_all = false;  // a setting that is not known may let every rank pass (`sharded or rank == 0`)
  bool is_out_of_reach = false;  // of operations to one of which its rank does not come: nothing to tell
  bool is_roundabout = false;  // found after the place where the lists diverge: another pair of ranks shows it better
  TraceId twin;             // the choice under which the other ranks issue the same kind of operation
  RankSet reached;
  RankSet not_reached;
  Detail detail{};
  Issuing issuing = Issuing::Always;  // how certain the operations are that show the difference
  std::vector<SeqId> lists;  // by rank of the world: what it issues with that certainty
  std::vector<SeqId> whole;  // by rank of the world: all that it may issue
};

Difference Describe(const State& state, Scene& scene, const SequenceStore& sequences, const Evidence& evidence);

// The nodes on a path from `from` down to `to`, both included; empty if there is none.
std::vector<TraceId> PathTo(const TraceStore& traces, TraceId from, TraceId to);
bool Contains(const TraceStore& traces, TraceId from, TraceId to);
// The first exit in running order that leads out of `trace`, of those in `kinds`; none if there is none.
TraceId FirstExit(const TraceStore& traces, TraceId trace, uint16_t kinds = kLeavesMask & ~kLeavesRaise);

// "rank 0", "local rank 0 of every node", "all other ranks".
std::string NameOfRanks(const World& world, RankSet ranks);

// A schedule of all ranks of the scene's world that shows the difference.
witness::Witness MakeWitness(const State& state, Scene& scene, const SequenceStore& sequences,
                             const Evidence& evidence, const std::string& guard);

}  // namespace allranks::traces
