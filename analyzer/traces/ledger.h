// What is known of every collective site of the program.
#pragma once

#include <vector>

#include "analyzer/traces/build.h"
#include "analyzer/traces/call_graph.h"
#include "analyzer/traces/standing.h"

namespace allranks::traces {

std::vector<LedgerEntry> MakeLedger(const State& state, const CallGraph& graph, const Standing& standing);

}  // namespace allranks::traces
