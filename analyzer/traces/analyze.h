// The parts of Analyze: for whoever has some of their results already.
#pragma once

#include <span>

#include "analyzer/traces/build.h"
#include "analyzer/traces/call_graph.h"
#include "analyzer/traces/check.h"

namespace allranks::traces {

// What a watch makes of an analysis.
struct Watched {
  base::Watch* watch = nullptr;              // none: it goes on to its end
  std::vector<variation::CutFunction> cut;   // the first function of each file that was given up: of the values before, of all after
  bool is_stopped = false;                   // not all functions were compared
};

// As Analyze above; where the watch is stopped, what was compared until then.
Analysis Analyze(const binding::Program& program, const knowledge::Knowledge& knowledge, variation::Facts& facts,
                 const source::SourceFiles& files, Watched& watched);

// Functions of which the values are not known, since they were given up, are so here as well.
void TakeCut(State& state, const Watched& watched);

// A function that is given up; of a file the first one is said.
void LeaveOut(State& state, FuncId func, base::CutKind kind);

// The run was stopped before these were compared. What was compared until then is right.
void NoteStop(State& state, std::span<const FuncId> left, const base::Cut& cut, Watched& watched);

// One function, after those that it calls: its trace, and where ranks differ in it.
void AnalyzeFunction(State& state, FuncId func, CheckResult* result);

// One defect, one finding: a test that separates the ranks before one operation shows in every caller that hands the
// test's operands down, and before several operations of one call. Functions come callees first, so the innermost stays.
// Where a caller that begins with the program shows it too, it no longer hangs on what may have been made before.
std::vector<Difference> KeepInnermost(std::vector<Difference> differences);

// All functions together, once each of `graph.order` was analysed.
Analysis Summarize(const State& state, const CallGraph& graph, CheckResult result);

}  // namespace allranks::traces
