#include "analyzer/traces/session.h"

#include <algorithm>
#include <set>
#include <span>

namespace allranks::traces {
namespace {

// New nodes of one function from which on it counts as near a bound, the lowest of which is at 10,000.
constexpr size_t kHeavy = 8'000;

// What is assumed of its own parameters and of those of the functions around it, and of any that these stand for.
std::vector<ValueId> ParamsOf(const State& state, FuncId func) {
  std::vector<ValueId> values;
  for (FuncId at = func; at; at = state.program.funcs[at].parent) {
    const size_t count = state.program.function(at).params.size();
    for (uint32_t i = 0; i < count; ++i) values.push_back(state.facts.param(at, i));
  }
  std::set<ValueId> seen;
  std::vector<ValueId> work = values;
  while (!work.empty()) {
    const ValueId value = work.back();
    work.pop_back();
    if (!value || !state.values.has_param(value) || !seen.insert(value).second) continue;
    const auto kids = state.values.Kids(value);
    work.insert(work.end(), kids.begin(), kids.end());
    if (state.values[value].kind != variation::ValueKind::Param) continue;
    values.push_back(state.facts.param(state.values[value].function(), state.values[value].param_index()));
    work.push_back(values.back());
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
  Analysis analysis = Begin(*base_, graph, watched);
  // Nothing follows from what was not made.
  if (watched.is_stopped) base_.reset();
  return analysis;
}

Analysis Session::Begin(State& state, const CallGraph& graph, Watched& watched) {
  state.is_relevant = graph.relevant;
  state.cycle = graph.cycle;
  state.made_once.Find();
  state.modes = graph.modes;
  made_.assign(state.program.funcs.size(), {});
  TakeCut(state, watched);
  CheckResult all;
  size_t done = 0;
  try {
    for (; done < graph.order.size(); ++done) Add(Make(state, graph.order[done]).result, all);
  } catch (const base::Cut& cut) {
    NoteStop(state, std::span(graph.order).subspan(done), cut, watched);
  }
  state.uses = nullptr;
  watched.cut = state.cut;
  Analysis analysis = Summarize(state, graph, std::move(all));
  // The base outlives this run.
  state.watch = nullptr;
  return analysis;
}

const Session::Made& Session::Make(State& state, FuncId func) {
  Made& made = made_[func.index];
  const size_t traces = state.traces.size();
  const size_t sites = state.sites.size();
  const size_t limits = state.limits.size();
  const size_t own_depth = state.own_depth.size();
  state.uses = &made.uses;
  state.projection_steps = 0;
  state.asks_for_others = false;
  AnalyzeFunction(state, func, &made.result);
  made.steps = state.projection_steps;
  made.params = ParamsOf(state, func);
  made.trace = state.trace_of[func.index];
  made.sites.assign(state.sites.begin() + static_cast<ptrdiff_t>(sites), state.sites.end());
  made.limits.assign(state.limits.begin() + static_cast<ptrdiff_t>(limits), state.limits.end());
  made.own_depth.assign(state.own_depth.begin() + static_cast<ptrdiff_t>(own_depth), state.own_depth.end());
  made.sets_up_own_job = state.sets_up_own_job.contains(func.index);
  made.traces = state.traces.size() - traces;
  made.depth_in_cycle = state.depth_in_cycle[func.index];
  made.is_heavy = !made.limits.empty() || made.traces > kHeavy;
  made.asks_for_others = state.asks_for_others;
  return made;
}

// Takes over what was made of a function.
void Session::TakeOver(State& state, FuncId func) const {
  const Made& made = made_[func.index];
  state.trace_of[func.index] = made.trace;
  state.sites.insert(state.sites.end(), made.sites.begin(), made.sites.end());
  state.limits.insert(state.limits.end(), made.limits.begin(), made.limits.end());
  state.own_depth.insert(state.own_depth.end(), made.own_depth.begin(), made.own_depth.end());
  for (const auto& [used, trace] : made.uses) {
    if (state.is_relevant[used.index]) state.is_used[used.index] = true;
  }
  if (made.sets_up_own_job) state.sets_up_own_job.insert(func.index);
  for (const Found& found : made.result.found) {
    if (found.is_open) NoteOpen(state, found);
  }
  state.steps_of_file[state.program.funcs[func].module.index] += made.steps;
  state.traces_of_file[state.program.funcs[func].module.index] += made.traces;
  state.depth_in_cycle[func.index] = made.depth_in_cycle;
}

// None if so much is another by now that it is better to begin anew, or what is found depends on the order of functions.
std::optional<Analysis> Session::Follow(const CallGraph& graph, const variation::Session& variation, Watched& watched) {
  // A recursive call that a bound kept from being followed counts as such in all functions behind.
  if (!base_->cut_recursion.empty()) return std::nullopt;
  State state = *base_;
  state.is_relevant = graph.relevant;
  state.cycle = graph.cycle;
  // What is made once is so for all functions that ask for it.
  state.made_once.Find();
  state.modes = graph.modes;
  state.is_called = CalledIn(state.facts);
  state.job_sizes = JobSizes(state.program, state.knowledge, state.facts);
  state.meshes = MeshLayouts(state.program, state.knowledge, state.facts);
  const bool is_same_job = state.job_sizes.Same(base_->job_sizes) && state.meshes.Same(base_->meshes);
  if (!is_same_job || !state.made_once.Same(base_->made_once) || !state.modes.Same(base_->modes)) return std::nullopt;
  std::ranges::fill(state.trace_of, TraceId::None());
  state.sites.clear();
  state.limits.clear();
  state.own_depth.clear();
  state.is_used.assign(state.is_used.size(), false);
  state.cut.clear();
  state.sets_up_own_job.clear();
  state.open_conditions.clear();
  state.open_operations.clear();
  std::ranges::fill(state.steps_of_file, 0);
  std::ranges::fill(state.traces_of_file, 0);
  std::ranges::fill(state.depth_in_cycle, 0);
  std::vector<bool> touched(made_.size());
  for (uint32_t f = 0; f < made_.size(); ++f) touched[f] = variation.ChangedAt(FuncId{f}) > base_update_;
  TakeCut(state, watched);
  std::vector<bool> has_new(state.program.modules.size());
  CheckResult all;
  for (size_t i = 0; i < graph.order.size(); ++i) {
    const FuncId func = graph.order[i];
    if (IsSame(state, func, touched)) {
      TakeOver(state, func);
      Add(made_[func.index].result, all);
      continue;
    }
    touched[func.index] = true;
    has_new[state.program.funcs[func].module.index] = true;
    const size_t traces = state.traces.size();
    try {
      AnalyzeFunction(state, func, &all);
    } catch (const base::Cut& cut) {
      NoteStop(state, std::span(graph.order).subspan(i), cut, watched);
    }
    if (watched.is_stopped) break;
    if (made_[func.index].is_heavy || state.traces.size() - traces > kHeavy || !state.cut_recursion.empty()) return std::nullopt;
  }
  for (size_t module = 0; module < has_new.size() && !watched.is_stopped; ++module) {
    // Which functions come to the bound of a file depends on all before them; and a copy that is there already is not made again.
    const bool is_near = state.steps_of_file[module] > State::kMostStepsOfFile || state.traces_of_file[module] > State::kMostTracesOfFile / 2;
    if (has_new[module] && is_near) return std::nullopt;
  }
  // What was made since the base is made again at every update.
  if (state.traces.size() - base_->traces.size() > base_->traces.size() / 2) base_.reset();
  if (watched.is_stopped) base_.reset();
  watched.cut = state.cut;
  return Summarize(state, graph, std::move(all));
}

bool Session::IsSame(const State& state, FuncId func, const std::vector<bool>& touched) const {
  const Made& made = made_[func.index];
  const bool is_called_as_before = state.is_called[func.index] == base_->is_called[func.index];
  if (!made.trace || made.asks_for_others || touched[func.index] || !is_called_as_before || made.params != ParamsOf(state, func)) return false;
  return std::ranges::all_of(made.uses, [&](const auto& use) {
    return !touched[use.first.index] && TraceOf(state, use.first) == use.second;
  });
}

}  // namespace allranks::traces
