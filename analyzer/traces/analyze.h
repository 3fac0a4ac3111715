// The parts of Analyze: for whoever has some of their results already.
#pragma once

#include "analyzer/traces/build.h"
#include "analyzer/traces/call_graph.h"
#include "analyzer/traces/check.h"

namespace allranks::traces {

// One function, after those that it calls: its trace, and where ranks differ in it.
void AnalyzeFunction(State& state, FuncId func, CheckResult* result);

// One defect, one finding: a test that separates the ranks before one operation shows in every caller that hands the
// test's operands down, and before several operations of one call. Functions come callees first, so the innermost stays.
// Where a caller that begins with the program shows it too, it no longer hangs on what may have been made before.
std::vector<Difference> KeepInnermost(std::vector<Difference> differences);

// All functions together, once each of `graph.order` was analysed.
Analysis Summarize(const State& state, const CallGraph& graph, CheckResult result);

}  // namespace allranks::traces
