// The ranks that each node of a job starts, computed from what its launchers are told. Nothing is launched.
//
// Launchers that look for one another in the same place meet. Each starts its processes: the ones of node 0 are the first ranks,
// those of node 1 come next. Where launchers agree on who is which node, none starts a process before all that are awaited are
// there; where each is told its number, it starts and its ranks wait for the others.
#pragma once

#include <string>

#include "witness/witness.h"

namespace allranks::verify {

struct RanksStarted {
  witness::Effect effect = witness::Effect::Clean;
  std::string text;  // "node 0 starts ranks 0-7, node 1 starts ranks 0-7; ..."
};

RanksStarted RanksStartedBy(const witness::LaunchedRanks& job);

}  // namespace allranks::verify
