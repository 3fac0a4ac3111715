// Witnesses of jobs whose launchers do not start the ranks that were meant: `allranks verify` computes what each node starts.
#pragma once

#include <optional>

#include "rules/launch/job_facts.h"
#include "witness/witness.h"

namespace allranks::rules {

// How the launchers of a job find one another.
struct Launchers {
  enum class Meet : uint8_t { InOnePlace, EachForItself };
  enum class Numbered : uint8_t { ByAgreement, AsTold, AllTheSame };

  int64_t nodes = 1;       // that run them
  int64_t on_each = 1;     // of them, on each node
  int64_t awaited = 1;     // of them, for one job
  Meet meet = Meet::InOnePlace;
  Numbered numbered = Numbered::ByAgreement;
  int64_t number = 0;      // of all, where it is the same
};

// Where the number of processes is not known two stand for it. None: there are too many, or it is one process.
std::optional<witness::Witness> LaunchWitness(const Job& job, const Launchers& launchers, witness::Effect effect);
// Each process of a node takes the device of its number, and the node has so many.
std::optional<witness::Witness> DeviceWitness(int64_t nodes, int64_t processes, int64_t devices);

}  // namespace allranks::rules
