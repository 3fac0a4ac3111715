// From two ranks that part to a Difference: what it is, where it stands, how sure it is.
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
  TraceId node;             // the choice, loop or try that parts the ranks; none: the operation itself does
  TraceId culprit;
  TraceId victim;
  TraceId exit;             // the exit that skips the culprit
  uint32_t handler = 0;
  knowledge::Axes axes;     // Shape of a count: along which it varies
  bool own = false;         // decided by each rank's own values and not by the world
  findings::Assumptions assumptions;  // what the comparison took for granted
  bool admits_all = false;  // a setting that is not known may let every rank pass (`sharded or rank == 0`)
  bool is_roundabout = false;  // found behind the place where the lists part: another pair of ranks says it better
  TraceId twin;             // the choice under which the other ranks issue the like
  RankSet reached;
  RankSet not_reached;
  Detail detail{};
  Issuing issuing = Issuing::Always;  // the difference rests on operations as sure as this
  std::vector<SeqId> lists;  // by rank of the world: what it issues as surely
  std::vector<SeqId> whole;  // by rank of the world: all that it may issue
};

Difference Describe(const State& state, Scene& scene, const SequenceStore& sequences, const Evidence& evidence);

// Nodes on a way from `from` down to `to`, both included; empty if there is none.
std::vector<TraceId> PathTo(const TraceStore& traces, TraceId from, TraceId to);
bool Contains(const TraceStore& traces, TraceId from, TraceId to);
// The first exit in running order that leads out of `trace`, raises left aside; none if there is none.
TraceId FirstExit(const TraceStore& traces, TraceId trace);

// "rank 0", "local rank 0 of every node", "all other ranks".
std::string NameOfRanks(const World& world, RankSet ranks);

// A schedule of all ranks of the scene's world that shows the difference.
witness::Witness MakeWitness(const State& state, Scene& scene, const SequenceStore& sequences,
                             const Evidence& evidence, const std::string& guard);

}  // namespace allranks::traces
