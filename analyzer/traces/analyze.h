// The parts of Analyze: for whoever has some of their results already.
#pragma once

#include "analyzer/traces/build.h"
#include "analyzer/traces/call_graph.h"
#include "analyzer/traces/check.h"

namespace allranks::traces {

// One function, after those that it calls: its trace, and where ranks differ in it.
void AnalyzeFunction(State& state, FuncId func, CheckResult* result);

// All functions together, once each of `graph.order` was analysed.
Analysis Summarize(const State& state, const CallGraph& graph, CheckResult result);

}  // namespace allranks::traces
