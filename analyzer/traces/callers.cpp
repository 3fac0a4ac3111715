#include "analyzer/traces/callers.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <vector>

namespace allranks::traces {
namespace {

class Search {
 public:
  explicit Search(const State& state) : state_(state), run_(state.program.funcs.size()), seen_(state.traces.size()) {}

  // By FuncId: whether a program leads to it.
  std::vector<bool> FromPrograms() {
    for (uint32_t f = 0; f < run_.size(); ++f) {
      if (IsProgram(state_, FuncId{f})) Run(FuncId{f});
    }
    while (!work_.empty()) {
      const FuncId func = work_.back();
      work_.pop_back();
      for (const auto& [expr, call] : state_.facts.functions[func].calls) {
        if (call.function) Run(call.function);
        if (StartsRanks(call)) RunGiven(call);
      }
      // What is called through values: callbacks, and what a launcher starts.
      if (state_.trace_of[func.index]) VisitCalls(state_.trace_of[func.index]);
    }
    return std::move(run_);
  }

 private:
  void Run(FuncId func) {
    if (run_[func.index]) return;
    run_[func.index] = true;
    work_.push_back(func);
  }

  // `mp.spawn(work)`, `fabric.launch(main)`, `TorchTrainer(loop)`: what starts the ranks of a job has them run the function.
  bool StartsRanks(const variation::CallFact& call) const {
    if (call.kind == variation::CallKind::Known) {
      const knowledge::Entry& entry = state_.knowledge[call.entry];
      const bool is_init = entry.has_operation && entry.operation.op_class == knowledge::OpClass::Init;
      if (is_init || entry.StartsProcesses()) return true;
    }
    const base::NameId name = call.callee ? state_.values[call.callee].name() : base::NameId::None();
    return name && std::ranges::any_of(state_.knowledge.LaunchSigns(name), [](const knowledge::LaunchSign& sign) {
             return sign.run_by == knowledge::RunBy::AllRanks || sign.run_by == knowledge::RunBy::Workers;
           });
  }

  void RunGiven(const variation::CallFact& call) {
    for (const ValueId arg : state_.facts.args(call)) {
      if (!arg) continue;
      const bool is_partial = state_.values[arg].kind == variation::ValueKind::Partial;
      const ValueId given = is_partial ? state_.values.Kids(arg)[0] : arg;
      if (const FuncId function = state_.values[given].function(); function && state_.values[given].kind == variation::ValueKind::Function) Run(function);
    }
  }

  void VisitCalls(TraceId from) {
    std::vector<TraceId> nodes = {from};
    while (!nodes.empty()) {
      const TraceId id = nodes.back();
      nodes.pop_back();
      if (seen_[id.index]) continue;
      seen_[id.index] = true;
      const Trace& trace = state_.traces[id];
      if (trace.kind == TraceKind::Scope || trace.kind == TraceKind::Rec) Run(FuncId{trace.payload});
      for (const TraceId kid : state_.traces.Kids(id)) nodes.push_back(kid);
    }
  }

  const State& state_;
  std::vector<bool> run_;
  std::vector<bool> seen_;
  std::vector<FuncId> work_;
};

// Methods of one class, or functions of one file that are called with nothing: such are steps of a program that is elsewhere.
bool StandTogether(const State& state, FuncId a, FuncId b) {
  const binding::Func& first = state.program.funcs[a];
  const binding::Func& second = state.program.funcs[b];
  if (a == b || first.owner != second.owner) return false;
  const auto takes_nothing = [&](FuncId func) { return state.program.function(func).params.empty(); };
  return first.owner || (first.module == second.module && takes_nothing(a) && takes_nothing(b));
}

// One operation on a group, by these ranks here and by all others there.
bool MakeUpForEachOther(const State& state, const Found& a, const Found& b) {
  const Difference& first = a.difference;
  const Difference& second = b.difference;
  return StandTogether(state, a.by, b.by) && AreOfOneKind(state.knowledge, first.culprit, second.culprit) && first.culprit.group == second.culprit.group &&
         first.world.size() == second.world.size() && first.reached == second.not_reached && first.not_reached == second.reached;
}

}  // namespace

bool IsProgram(const State& state, FuncId func) {
  if (state.program.funcs[func].function == ir::kTopLevel) return true;
  const bool is_c = state.program.module_of(func).language != ir::Language::Python;
  return is_c && state.program.text(state.program.function(func).name) == "main";
}

void AssumeCallers(const State& state, CheckResult* result) {
  const std::vector<bool> run = Search(state).FromPrograms();
  std::vector<size_t> alone;
  for (size_t i = 0; i < result->found.size(); ++i) {
    if (!run[result->found[i].by.index]) alone.push_back(i);
  }
  // Those that are open, by class, and of other functions by file: no others make up for each other.
  std::unordered_map<uint64_t, std::vector<size_t>> beside;
  for (const size_t i : alone) {
    const binding::Func& func = state.program.funcs[result->found[i].by];
    const uint64_t place = func.owner ? uint64_t{1} << 32 | func.owner.index : uint64_t{func.module.index};
    if (result->found[i].is_open) beside[place].push_back(i);
  }
  std::vector<size_t> paired;
  for (const auto& [place, open] : beside) {
    // Of three functions that nothing holds together but their file nobody knows which two belong together.
    const bool has_class = static_cast<bool>(state.program.funcs[result->found[open[0]].by].owner);
    if (!has_class && open.size() != 2) continue;
    const auto makes_up = [&](size_t i) {
      return std::ranges::any_of(open, [&](size_t other) { return MakeUpForEachOther(state, result->found[i], result->found[other]); });
    };
    std::ranges::copy_if(open, std::back_inserter(paired), makes_up);
  }
  for (const size_t i : alone) result->found[i].difference.assumptions.Add(findings::Assumption::CallerUnknown);
  for (const size_t i : paired) result->found[i].difference.assumptions.Add(findings::Assumption::CalledInPairs);
}

}  // namespace allranks::traces
