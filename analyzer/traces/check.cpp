#include "analyzer/traces/check.h"

#include <algorithm>

#include "analyzer/traces/conditions.h"
#include "analyzer/traces/function_check.h"

namespace allranks::traces {
namespace {

using knowledge::OpClass;

// More differences in one function say nothing more.
constexpr int kMostDifferences = 12;

// `__enter__` and `__exit__` belong together; `with` statements look at both.
bool IsHalf(const State& state, FuncId func) {
  const std::string_view name = state.program.text(state.program.function(func).name);
  return name == "__enter__" || name == "__exit__" || name == "__aenter__" || name == "__aexit__";
}

}  // namespace

void CheckFunction(State& state, FuncId func, CheckResult* result) {
  const TraceId trace = state.trace_of[func.index];
  const uint16_t flags = state.traces[trace].flags;
  if ((flags & kHasOp) == 0 || (flags & (kVarying | kHasTry | kOpenParams)) == 0 || IsHalf(state, func)) return;
  FunctionCheck(state, func, result).Run();
}

void FunctionCheck::Run() {
  state_.projection_steps = 0;
  const TraceId parametric = state_.trace_of[func_.index];
  Origins origins;
  root_ = Instantiate(state_, parametric, OwnBinding(), &origins);
  if ((traces_[root_].flags & (kVarying | kHasTry)) == 0) return;
  nodes_ = CollectVarying(state_, root_);
  CheckMembers();
  CheckPairs();
  CheckOwn();
  CheckShapes();
  CheckCounts();
  CheckTypes();
  CheckPointToPoint();
  if (state_.exhausted()) state_.limits.push_back({func_, "comparison of ranks with more than 400000 steps"});
  std::unordered_set<uint32_t> reported;
  for (const uint32_t node : reported_) {
    // What lies in a part without parameters is its own origin.
    const auto origin = origins.find(node);
    reported.insert(origin == origins.end() ? node : origin->second.index);
  }
  const bool is_generator = state_.program.function(func_).is_generator;
  state_.trace_of[func_.index] = Settle(state_, parametric, reported, !is_generator);
}

// What is known of parameters where the function is looked at by itself.
Binding FunctionCheck::OwnBinding() const {
  Binding binding{.func = func_, .args = Params(func_), .outer = state_.program.funcs[func_].parent, .outer_args = {}};
  if (binding.outer) binding.outer_args = Params(binding.outer);
  return binding;
}

std::vector<ValueId> FunctionCheck::Params(FuncId func) const {
  const size_t count = state_.program.function(func).params.size();
  std::vector<ValueId> values;
  for (uint32_t i = 0; i < count; ++i) {
    const ValueId value = state_.facts.param(func, i);
    // A parameter that stands for another function's parameter is as good as unknown.
    values.push_back(value && state_.values.has_param(value) ? ValueId::None() : value);
  }
  return values;
}

void FunctionCheck::Prepare(Scene& scene) {
  for (const TraceId op : nodes_.ops) {
    for (uint32_t rank = 0; rank < scene.world().size(); ++rank) {
      scene.evaluator().Group(traces_.operation(op).group, rank);
    }
  }
  scene.FindClasses(traces_, nodes_);
}

SeqId FunctionCheck::Project(Scene& scene, SequenceStore& sequences, View view) {
  view.rank = scene.ClassOf(view.rank);
  return Projector(state_, scene, sequences, view, settled_).Run(root_);
}

TraceId FunctionCheck::OpOf(const SequenceStore& sequences, SeqId list) const {
  const SeqId op = sequences.FirstOp(list);
  return op == kNothing ? TraceId::None() : sequences[op].origin;
}

std::optional<TraceId> FunctionCheck::FirstOpIn(TraceId id) const {
  const Trace& trace = traces_[id];
  if ((trace.flags & kHasOp) == 0) return std::nullopt;
  if (trace.kind == TraceKind::Op) return id;
  for (const TraceId kid : traces_.Kids(id)) {
    if (const std::optional<TraceId> found = FirstOpIn(kid)) return found;
  }
  return std::nullopt;
}

std::string FunctionCheck::Detail(TraceId first, TraceId second) const {
  if (!first || !second) return "count";
  if (traces_.entry(first).operation.kind != traces_.entry(second).operation.kind) return "kind";
  return traces_.operation(first).group != traces_.operation(second).group ? "group" : "order";
}

// The exit of the arm that leaves; `first_has_it`: whether the first one is the one that goes on.
TraceId FunctionCheck::LeavingArm(TraceId first_arm, TraceId second_arm, TraceId first, TraceId second,
                                  bool* first_has_it) const {
  const TraceId first_exit = FirstExit(traces_, first_arm);
  const TraceId second_exit = FirstExit(traces_, second_arm);
  if (second_exit && first) {
    *first_has_it = true;
    return second_exit;
  }
  if (first_exit && second) {
    *first_has_it = false;
    return first_exit;
  }
  return TraceId::None();
}

void FunctionCheck::MarkSettled(TraceId node) {
  settled_.insert(node.index);
  reported_.insert(node.index);
}

void FunctionCheck::Report(Scene& scene, SequenceStore& sequences, Evidence evidence, TraceId cause) {
  // Sequences cut off by the bound differ for no reason.
  if (state_.exhausted()) return;
  const knowledge::Operation& operation = traces_.entry(evidence.culprit).operation;
  const bool branches = evidence.kind == DifferenceKind::Guard || evidence.kind == DifferenceKind::EarlyExit ||
                        evidence.kind == DifferenceKind::DataBranch;
  if (branches && (operation.op_class == OpClass::GroupCreate || operation.op_class == OpClass::Init)) {
    evidence.kind = DifferenceKind::GroupCreation;
  }
  evidence.function = func_;
  evidence.root = root_;
  const bool meets = evidence.kind == DifferenceKind::Mismatch && evidence.victim;
  evidence.is_guess = evidence.is_guess || AsksOtherGroup(evidence) ||
                      (!SinglesOut(evidence) &&
                       (IsGuess(scene, evidence.culprit) || (meets && IsGuess(scene, evidence.victim))));
  if (evidence.lists.empty()) {
    for (uint32_t rank = 0; rank < scene.world().size(); ++rank) {
      evidence.lists.push_back(Project(scene, sequences, {.rank = rank, .groups = ~0u, .with_p2p = true}));
    }
  }
  Difference difference = Describe(state_, scene, sequences, evidence);
  // A guess about the group is for callers to settle, who know what they pass.
  settled_.insert(cause.index);
  if (!evidence.is_guess) reported_.insert(cause.index);
  reported_culprits_.insert(evidence.culprit.index);
  if (difference.confidence != findings::Confidence::Possible) {
    result_->flagged_sites.insert(traces_[evidence.culprit].site.index);
  }
  result_->differences.push_back(std::move(difference));
  ++found_;
}

// `rank == 0`, or the rank in the very group: whatever its members are, one of them goes another way than the rest.
bool FunctionCheck::SinglesOut(const Evidence& evidence) const {
  if (!evidence.node || traces_[evidence.node].kind != TraceKind::Choice) return false;
  // Clocks and files differ between any two processes.
  if (evidence.own) return NodeAxes(state_, evidence.node).has(knowledge::Axis::Environment);
  return SinglesOutRank(state_.values, traces_[evidence.node].value, traces_.operation(evidence.culprit).group);
}

// How a rank's place in one group goes with its place in another is not known.
bool FunctionCheck::AsksOtherGroup(const Evidence& evidence) const {
  if (!evidence.node || traces_[evidence.node].kind != TraceKind::Choice) return false;
  const ValueId group = traces_.operation(evidence.culprit).group;
  if (!group || group == state_.values.NoneValue() || group == state_.values.World()) return false;
  return AsksForMembership(state_.values, traces_[evidence.node].value, group);
}

bool FunctionCheck::IsGuess(Scene& scene, TraceId op) const {
  Evaluator& evaluator = scene.evaluator();
  return evaluator.group(evaluator.Group(traces_.operation(op).group, 0)).is_guess;
}

bool FunctionCheck::full() const { return found_ >= kMostDifferences || state_.exhausted(); }

RankSet Complement(const Scene& scene, RankSet ranks) {
  return {static_cast<uint8_t>(RankSet::All(scene.world().size()).bits & ~ranks.bits)};
}

}  // namespace allranks::traces
