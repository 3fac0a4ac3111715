#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <tuple>

#include "analyzer/traces/analysis.h"
#include "analyzer/traces/analyze.h"
#include "analyzer/traces/build.h"
#include "analyzer/traces/call_graph.h"
#include "analyzer/traces/check.h"
#include "analyzer/traces/issued.h"
#include "analyzer/traces/callers.h"
#include "analyzer/traces/ledger.h"
#include "analyzer/traces/standing.h"

namespace allranks::traces {
namespace {

std::string BoundOf(const State& state, base::CutKind kind) {
  if (kind == base::CutKind::Stopped) return "the run was stopped";
  if (kind == base::CutKind::Memory) return state.watch->FullText();
  if (kind == base::CutKind::FileMemory) return state.watch->LargeText();
  return "more than " + std::to_string(state.watch->bounds().per_file.count()) + " ms for this file";
}

bool IsOfFile(const State& state, FuncId func, uint32_t module) { return state.program.funcs[func].module.index == module; }

// What follows a bound of a whole file in that file is not said again.
std::vector<LimitHit> Said(const State& state) {
  std::vector<LimitHit> limits;
  std::ranges::copy_if(state.limits, std::back_inserter(limits), [&](const LimitHit& limit) {
    const bool is_first = std::ranges::any_of(state.cut, [&](const auto& cut) { return cut.function == limit.function; });
    return is_first || !limit.is_given;
  });
  return limits;
}

}  // namespace

void LeaveOut(State& state, FuncId func, base::CutKind kind) {
  if (!state.trace_of[func.index]) state.trace_of[func.index] = state.traces.Empty();
  state.limits.push_back({func, BoundOf(state, kind), true});
  const uint32_t module = state.program.funcs[func].module.index;
  const bool is_said = std::ranges::any_of(state.cut, [&](const auto& cut) { return IsOfFile(state, cut.function, module); });
  if (!is_said) state.cut.push_back({func, kind});
}

void TakeCut(State& state, const Watched& watched) {
  state.watch = watched.watch;
  for (const variation::CutFunction& cut : watched.cut) {
    LeaveOut(state, cut.function, cut.kind);
    const uint32_t module = state.program.funcs[cut.function].module.index;
    for (uint32_t f = 0; f < state.program.funcs.size(); ++f) {
      const bool is_left = FuncId{f} != cut.function && IsOfFile(state, FuncId{f}, module) && !state.facts.functions[FuncId{f}].evaluated;
      if (is_left) LeaveOut(state, FuncId{f}, cut.kind);
    }
  }
}

void NoteStop(State& state, std::span<const FuncId> left, const base::Cut& cut, Watched& watched) {
  for (const FuncId func : left) LeaveOut(state, func, cut.kind);
  watched.is_stopped = true;
}

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
  const size_t traces = state.traces.size();
  const size_t limits = state.limits.size();
  const uint32_t module = state.program.funcs[func].module.index;
  state.BeginTraces(func);
  try {
    const base::Watch::Turn turn(state.watch, module);
    state.trace_of[func.index] = BuildTrace(state, func);
    NoteOwnDepth(state, state.trace_of[func.index]);
    CheckFunction(state, func, result);
  } catch (const base::Cut& cut) {
    if (cut.kind == base::CutKind::Stopped) throw;
    LeaveOut(state, func, cut.kind);
  }
  state.traces_of_file[module] += state.traces.size() - traces;
  if (!state.not_followed.empty() && state.limits.size() == limits) state.limits.push_back({func, state.not_followed});
}

Analysis Summarize(const State& state, const CallGraph& graph, CheckResult result) {
  Analysis analysis;
  AssumeCallers(state, &result);
  Standing standing = WhatStands(std::move(result));
  analysis.ledger = MakeLedger(state, graph, standing);
  analysis.differences = KeepInnermost(std::move(standing.differences));
  IssuedSearch search(state);
  for (const FuncId func : graph.order) {
    if (std::optional<Issued> issued = search.In(func)) analysis.issued.emplace(func, std::move(*issued));
  }
  analysis.limits = Said(state);
  return analysis;
}

Analysis Analyze(const binding::Program& program, const knowledge::Knowledge& knowledge, variation::Facts& facts,
                 const source::SourceFiles& files) {
  Watched watched;
  return Analyze(program, knowledge, facts, files, watched);
}

Analysis Analyze(const binding::Program& program, const knowledge::Knowledge& knowledge, variation::Facts& facts,
                 const source::SourceFiles& files, Watched& watched) {
  State state(program, knowledge, facts, files);
  const CallGraph graph = MakeCallGraph(program, knowledge, facts);
  state.is_relevant = graph.relevant;
  state.cycle = graph.cycle;
  state.made_once.Find();
  state.modes = graph.modes;
  TakeCut(state, watched);
  CheckResult result;
  size_t done = 0;
  try {
    for (; done < graph.order.size(); ++done) AnalyzeFunction(state, graph.order[done], &result);
  } catch (const base::Cut& cut) {
    NoteStop(state, std::span(graph.order).subspan(done), cut, watched);
  }
  watched.cut = state.cut;
  return Summarize(state, graph, std::move(result));
}

}  // namespace allranks::traces
