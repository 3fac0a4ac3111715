#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analyzer/traces/analysis.h"
#include "analyzer/traces/analyze.h"
#include "analyzer/traces/build.h"
#include "analyzer/traces/call_graph.h"
#include "analyzer/traces/check.h"
#include "analyzer/traces/issued.h"

namespace allranks::traces {
namespace {

// Every site of a requested module with an operation, or with a call that could be one.
std::vector<LedgerEntry> MakeLedger(const State& state, const CheckResult& result) {
  std::unordered_map<uint32_t, bool> over_limit;
  for (const LimitHit& limit : state.limits) over_limit.emplace(limit.function.index, true);
  std::vector<LedgerEntry> ledger;
  for (const OperationSite& place : state.sites) {
    const Site& site = state.traces.site(place.site);
    if (!state.program.infos[state.program.funcs[site.function].module].requested) continue;
    LedgerEntry entry{.span = site.span, .function = site.function, .name = place.unresolved,
                      .verdict = SiteVerdict::Aligned, .reason = {}};
    if (place.entry) entry.name = std::string(state.program.text(state.knowledge[place.entry].name));
    if (!place.entry) {
      entry.verdict = SiteVerdict::Unknown;
      entry.reason = "unresolved call `" + place.unresolved + "`";
    } else if (result.flagged_sites.contains(place.site.index)) {
      entry.verdict = SiteVerdict::Flagged;
    } else if (over_limit.contains(site.function.index)) {
      entry.verdict = SiteVerdict::Unknown;
      entry.reason = "bound reached";
    }
    ledger.push_back(std::move(entry));
  }
  std::ranges::stable_sort(ledger, {}, [](const LedgerEntry& entry) { return entry.span; });
  const auto repeated = std::ranges::unique(ledger, {}, [](const LedgerEntry& entry) { return entry.span; });
  ledger.erase(repeated.begin(), repeated.end());
  return ledger;
}

// One defect, one finding: a test that parts the ranks before one operation shows in every caller that hands the
// test's operands down, and before several operations of one call. Functions come callees first, so the innermost stays.
void KeepInnermost(std::vector<Difference>& differences) {
  std::set<std::tuple<source::Span, source::Span>> seen;
  std::erase_if(differences, [&](const Difference& difference) {
    const bool has_condition = difference.condition.end > difference.condition.begin;
    const source::Span cause = has_condition ? difference.condition : difference.place;
    const bool is_new = seen.emplace(cause, difference.culprit.span).second;
    return !is_new || (has_condition && difference.place != difference.culprit.span &&
                       !seen.emplace(cause, difference.place).second);
  });
}

}  // namespace

void AnalyzeFunction(State& state, FuncId func, CheckResult* result) {
  // What one function may add: callbacks handed through callbacks would multiply without end.
  constexpr size_t kMostPerFunction = 20'000;
  state.most_traces = state.traces.size() + kMostPerFunction;
  state.trace_of[func.index] = BuildTrace(state, func);
  CheckFunction(state, func, result);
}

Analysis Summarize(const State& state, const CallGraph& graph, CheckResult result) {
  Analysis analysis;
  analysis.ledger = MakeLedger(state, result);
  analysis.differences = std::move(result.differences);
  KeepInnermost(analysis.differences);
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
  CheckResult result;
  for (const FuncId func : graph.order) AnalyzeFunction(state, func, &result);
  return Summarize(state, graph, std::move(result));
}

}  // namespace allranks::traces
