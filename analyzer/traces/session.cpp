#include "analyzer/traces/session.h"

#include <algorithm>

namespace allranks::traces {
namespace {

// New nodes of one function from which on it counts as near a bound, the lowest of which is at 10,000.
constexpr size_t kHeavy = 8'000;

std::vector<ValueId> ParamsOf(const State& state, FuncId func) {
  std::vector<ValueId> values;
  for (FuncId at = func; at; at = at == func ? state.program.funcs[func].parent : FuncId::None()) {
    const size_t count = state.program.function(at).params.size();
    for (uint32_t i = 0; i < count; ++i) values.push_back(state.facts.param(at, i));
  }
  return values;
}

void Add(const CheckResult& from, CheckResult& to) {
  to.found.insert(to.found.end(), from.found.begin(), from.found.end());
  to.judged.insert(to.judged.end(), from.judged.begin(), from.judged.end());
  to.unexplained.insert(to.unexplained.end(), from.unexplained.begin(), from.unexplained.end());
}

}  // namespace

Analysis Session::Update(const binding::Program& program, const knowledge::Knowledge& knowledge,
                         variation::Facts& facts, const source::SourceFiles& files,
                         const variation::Session& variation, Watched& watched) {
  const CallGraph graph = MakeCallGraph(program, knowledge, facts);
  if (base_ != nullptr && variation.begun_at() <= base_update_) {
    if (std::optional<Analysis> analysis = Follow(graph, variation, watched)) return std::move(*analysis);
  }
  base_ = std::make_unique<State>(program, knowledge, facts, files);
  base_update_ = variation.update();
  return Begin(*base_, graph, watched);
}

Analysis Session::Begin(State& state, const CallGraph& graph, Watched& watched) {
  state.is_relevant = graph.relevant;
  state.cycle = graph.cycle;
  state.made_once.Find();
  state.modes = graph.modes;
  made_.assign(state.program.funcs.size(), {});
  TakeCut(state, watched);
  CheckResult all;
  for (const FuncId func : graph.order) {
    Made& made = made_[func.index];
    const size_t traces = state.traces.size();
    const size_t sites = state.sites.size();
    const size_t limits = state.limits.size();
    state.uses = &made.uses;
    state.projection_steps = 0;
    AnalyzeFunction(state, func, &made.result);
    made.steps = state.projection_steps;
    made.params = ParamsOf(state, func);
    made.trace = state.trace_of[func.index];
    made.sites.assign(state.sites.begin() + static_cast<ptrdiff_t>(sites), state.sites.end());
    made.limits.assign(state.limits.begin() + static_cast<ptrdiff_t>(limits), state.limits.end());
    made.sets_up_own_job = state.sets_up_own_job.contains(func.index);
    made.traces = state.traces.size() - traces;
    made.depth_in_cycle = state.depth_in_cycle[func.index];
    made.is_heavy = !made.limits.empty() || made.traces > kHeavy;
    Add(made.result, all);
  }
  state.uses = nullptr;
  watched.cut = state.cut;
  Analysis analysis = Summarize(state, graph, std::move(all));
  // The base outlives this run.
  state.watch = nullptr;
  return analysis;
}

// None if so much is another by now that it is better to begin anew.
std::optional<Analysis> Session::Follow(const CallGraph& graph, const variation::Session& variation, Watched& watched) {
  State state = *base_;
  state.is_relevant = graph.relevant;
  state.cycle = graph.cycle;
  // What is made once is so for all functions that ask for it.
  state.made_once.Find();
  state.modes = graph.modes;
  if (!state.made_once.Same(base_->made_once) || !state.modes.Same(base_->modes)) return std::nullopt;
  std::ranges::fill(state.trace_of, TraceId::None());
  state.sites.clear();
  state.limits.clear();
  state.cut.clear();
  state.sets_up_own_job.clear();
  state.open_conditions.clear();
  std::ranges::fill(state.steps_of_file, 0);
  std::ranges::fill(state.traces_of_file, 0);
  std::ranges::fill(state.depth_in_cycle, 0);
  std::vector<bool> touched(made_.size());
  for (uint32_t f = 0; f < made_.size(); ++f) touched[f] = variation.ChangedAt(FuncId{f}) > base_update_;
  TakeCut(state, watched);
  CheckResult all;
  for (const FuncId func : graph.order) {
    const Made& made = made_[func.index];
    if (IsSame(state, func, touched)) {
      state.trace_of[func.index] = made.trace;
      state.sites.insert(state.sites.end(), made.sites.begin(), made.sites.end());
      state.limits.insert(state.limits.end(), made.limits.begin(), made.limits.end());
      if (made.sets_up_own_job) state.sets_up_own_job.insert(func.index);
      for (const Found& found : made.result.found) {
        if (found.is_open) state.open_conditions.insert(found.condition.index);
      }
      state.steps_of_file[state.program.funcs[func].module.index] += made.steps;
      state.traces_of_file[state.program.funcs[func].module.index] += made.traces;
      state.depth_in_cycle[func.index] = made.depth_in_cycle;
      Add(made.result, all);
      continue;
    }
    touched[func.index] = true;
    const size_t traces = state.traces.size();
    AnalyzeFunction(state, func, &all);
    if (made.is_heavy || state.traces.size() - traces > kHeavy) return std::nullopt;
  }
  // Which functions come to the bound of a file depends on all before them.
  const auto is_over = [](uint64_t steps) { return steps > State::kMostStepsOfFile; };
  if (std::ranges::any_of(state.steps_of_file, is_over)) return std::nullopt;
  // A copy that is there already is not made again.
  const auto is_near = [](size_t traces) { return traces > State::kMostTracesOfFile / 2; };
  if (std::ranges::any_of(state.traces_of_file, is_near)) return std::nullopt;
  // What was made since the base is made again at every update.
  if (state.traces.size() - base_->traces.size() > base_->traces.size() / 2) base_.reset();
  watched.cut = state.cut;
  return Summarize(state, graph, std::move(all));
}

bool Session::IsSame(const State& state, FuncId func, const std::vector<bool>& touched) const {
  const Made& made = made_[func.index];
  if (!made.trace || touched[func.index] || made.params != ParamsOf(state, func)) return false;
  return std::ranges::all_of(made.uses, [&](const auto& use) {
    return !touched[use.first.index] && TraceOf(state, use.first) == use.second;
  });
}

}  // namespace allranks::traces
