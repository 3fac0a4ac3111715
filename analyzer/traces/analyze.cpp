#include <algorithm>
#include <map>
#include <tuple>

#include "analyzer/traces/analysis.h"
#include "analyzer/traces/analyze.h"
#include "analyzer/traces/build.h"
#include "analyzer/traces/call_graph.h"
#include "analyzer/traces/check.h"
#include "analyzer/traces/issued.h"
#include "analyzer/traces/ledger.h"

namespace allranks::traces {

std::vector<Difference> KeepInnermost(std::vector<Difference> differences) {
  constexpr findings::Assumption kFirst = findings::Assumption::FirstArrival;
  std::map<std::tuple<source::Span, source::Span>, size_t> seen;
  std::vector<Difference> kept;
  for (Difference& difference : differences) {
    const bool has_condition = difference.condition.end > difference.condition.begin;
    const source::Span cause = has_condition ? difference.condition : difference.place;
    auto [known, is_new] = seen.try_emplace({cause, difference.culprit.span}, kept.size());
    if (is_new && has_condition && difference.place != difference.culprit.span) {
      const auto [of_place, is_new_place] = seen.try_emplace({cause, difference.place}, kept.size());
      // What was kept for the place stands for this operation as well.
      known->second = of_place->second;
      is_new = is_new_place;
    }
    if (is_new) {
      kept.push_back(std::move(difference));
    } else if (Difference& inner = kept[known->second]; inner.assumptions.has(kFirst) && !difference.assumptions.has(kFirst)) {
      inner.assumptions = difference.assumptions;
    }
  }
  return kept;
}

void AnalyzeFunction(State& state, FuncId func, CheckResult* result) {
  // What one function may add: callbacks handed through callbacks would multiply without end.
  constexpr size_t kMostPerFunction = 20'000;
  state.most_traces = state.traces.size() + kMostPerFunction;
  state.trace_of[func.index] = BuildTrace(state, func);
  CheckFunction(state, func, result);
}

Analysis Summarize(const State& state, const CallGraph& graph, CheckResult result) {
  Analysis analysis;
  analysis.ledger = MakeLedger(state, graph, result);
  analysis.differences = KeepInnermost(std::move(result.differences));
  IssuedSearch search(state);
  for (const FuncId func : graph.order) {
    if (std::optional<Issued> issued = search.In(func)) analysis.issued.emplace(func, std::move(*issued));
  }
  analysis.limits = state.limits;
  return analysis;
}

Analysis Analyze(const binding::Program& program, const knowledge::Knowledge& knowledge, variation::Facts& facts,
                 const source::SourceFiles& files) {
  State state(program, knowledge, facts, files);
  const CallGraph graph = MakeCallGraph(program, knowledge, facts);
  state.is_relevant = graph.relevant;
  state.made_once.Find();
  state.modes = graph.modes;
  CheckResult result;
  for (const FuncId func : graph.order) AnalyzeFunction(state, func, &result);
  return Summarize(state, graph, std::move(result));
}

}  // namespace allranks::traces
