#include "analyzer/traces/check.h"

#include <algorithm>
#include <map>
#include <memory>

#include "analyzer/traces/difference.h"
#include "analyzer/traces/nodes.h"

namespace allranks::traces {
namespace {

using knowledge::Axes;
using knowledge::OpClass;

// More differences in one function say nothing more.
constexpr int kMostDifferences = 12;
constexpr size_t kMostBlamed = 48;
constexpr size_t kMostScenes = 24;

class FunctionCheck {
 public:
  FunctionCheck(State& state, FuncId func, CheckResult* result)
      : state_(state), traces_(state.traces), func_(func), result_(result) {}

  void Run() {
    const TraceId parametric = state_.trace_of[func_.index];
    Origins origins;
    root_ = Instantiate(state_, parametric, OwnBinding(), &origins);
    if ((traces_[root_].flags & (kVarying | kHasTry)) == 0) return;
    nodes_ = CollectVarying(state_, root_);
    CheckPairs();
    CheckOwn();
    std::unordered_set<uint32_t> reported;
    for (const uint32_t node : reported_) {
      if (const auto origin = origins.find(node); origin != origins.end()) reported.insert(origin->second.index);
    }
    const bool is_generator = state_.program.function(func_).is_generator;
    state_.trace_of[func_.index] = Settle(state_, parametric, reported, !is_generator);
  }

 private:
  // What is known of parameters where the function is looked at by itself.
  Binding OwnBinding() {
    Binding binding{.func = func_, .args = Params(func_), .outer = state_.program.funcs[func_].parent, .outer_args = {}};
    if (binding.outer) binding.outer_args = Params(binding.outer);
    return binding;
  }

  std::vector<ValueId> Params(FuncId func) const {
    const size_t count = state_.program.function(func).params.size();
    std::vector<ValueId> values;
    for (uint32_t i = 0; i < count; ++i) {
      const ValueId value = state_.facts.param(func, i);
      // A parameter that stands for another function's parameter is as good as unknown.
      values.push_back(value && state_.values.has_param(value) ? ValueId::None() : value);
    }
    return values;
  }

  // ---- Pairs of ranks ----------------------------------------------------------------------------------------------

  void CheckPairs() {
    if (nodes_.choices.empty() && !nodes_.ops_vary) return;
    for (const World& world : WorldsFor(nodes_.mentions)) {
      for (Assignment& assignment : Assignments(world)) {
        if (full()) return;
        Scene scene(state_, world, std::move(assignment));
        CheckScene(scene);
      }
    }
  }

  bool full() const { return found_ >= kMostDifferences; }

  // Values for the uniform unknowns in conditions on the rank: all of the first kind, all of the second, one by one.
  std::vector<Assignment> Assignments(const World& world) {
    const Assignment nothing;
    Evaluator evaluator(state_.values, state_.knowledge, world, nothing);
    std::vector<ValueId> parts;
    const Axes soft = Axes::Of(Axis::Data) | Axes::Of(Axis::Environment);
    for (const TraceId node : nodes_.choices) {
      const ValueId value = traces_[node].value;
      if (Without(state_.values.axes(value), soft).empty()) continue;
      evaluator.UnknownParts(value, &parts);
    }
    std::vector<Assignment> assignments(1);
    for (const int64_t first : {1, 0}) {
      if (parts.empty()) break;
      Assignment all;
      for (const ValueId part : parts) all.emplace(part.index, first);
      if (first == 1) assignments.clear();
      assignments.push_back(all);
      for (size_t i = 0; i < parts.size() && parts.size() > 1 && assignments.size() < kMostScenes; ++i) {
        Assignment flipped = all;
        flipped[parts[i].index] = 1 - first;
        assignments.push_back(std::move(flipped));
      }
    }
    return assignments;
  }

  void CheckScene(Scene& scene) {
    DiscoverGroups(scene);
    for (bool again = true; again && !full();) {
      SequenceStore sequences;
      again = CheckOnce(scene, sequences);
    }
  }

  void DiscoverGroups(Scene& scene) {
    for (const TraceId op : nodes_.ops) {
      for (uint32_t rank = 0; rank < scene.world().size(); ++rank) {
        scene.evaluator().Group(traces_.operation(op).group, rank);
      }
    }
  }

  // Whether some pair of ranks differs; then the difference is reported and its cause settled.
  bool CheckOnce(Scene& scene, SequenceStore& sequences) {
    std::map<std::pair<uint32_t, uint32_t>, SeqId> lists;
    const auto list = [&](uint32_t rank, uint32_t groups) {
      const auto [found, is_new] = lists.try_emplace({rank, groups});
      if (is_new) found->second = Project(scene, sequences, {.rank = rank, .groups = groups}, settled_);
      return found->second;
    };
    const uint32_t size = scene.world().size();
    for (uint32_t i = 0; i < size; ++i) {
      for (uint32_t j = i + 1; j < size; ++j) {
        const uint32_t groups = SharedGroups(scene, i, j);
        if (groups == 0) continue;
        const std::optional<Parting> parting = FirstDifference(sequences, list(i, groups), list(j, groups));
        if (parting && ReportPair(scene, sequences, i, j, groups, *parting)) return true;
      }
    }
    return false;
  }

  SeqId Project(Scene& scene, SequenceStore& sequences, View view, const std::unordered_set<uint32_t>& settled) {
    return Projector(state_, scene, sequences, view, settled).Run(root_);
  }

  uint32_t SharedGroups(Scene& scene, uint32_t i, uint32_t j) {
    uint32_t groups = 0;
    for (GroupIndex g = 0; g < scene.evaluator().group_count(); ++g) {
      if (scene.evaluator().group(g).members[i].has(j)) groups |= 1u << g;
    }
    return groups;
  }

  // The choice without which these two ranks do not part here: the innermost one.
  TraceId Blame(Scene& scene, SequenceStore& sequences, uint32_t i, uint32_t j, uint32_t groups,
                const Parting& parting) {
    size_t tried = 0;
    for (const TraceId node : nodes_.choices) {
      if (settled_.contains(node.index) || !PartsRanks(scene, node, i, j) || ++tried > kMostBlamed) continue;
      std::unordered_set<uint32_t> without = settled_;
      without.insert(node.index);
      const SeqId first = Project(scene, sequences, {.rank = i, .groups = groups}, without);
      const SeqId second = Project(scene, sequences, {.rank = j, .groups = groups}, without);
      const std::optional<Parting> rest = FirstDifference(sequences, first, second);
      if (!rest || !SamePlace(sequences, *rest, parting)) return node;
    }
    return TraceId::None();
  }

  bool PartsRanks(Scene& scene, TraceId node, uint32_t i, uint32_t j) {
    const Trace& trace = traces_[node];
    if (trace.kind == TraceKind::Loop) return scene.Trips(trace.value, i) != scene.Trips(trace.value, j);
    const Decision& decision = scene.Decide(trace.value);
    return decision.decided && decision.truth.has(i) != decision.truth.has(j);
  }

  static bool SamePlace(const SequenceStore& sequences, const Parting& a, const Parting& b) {
    const auto origin = [&](SeqId id) { return sequences[id].origin; };
    return origin(a.first) == origin(b.first) && origin(a.second) == origin(b.second);
  }

  bool ReportPair(Scene& scene, SequenceStore& sequences, uint32_t i, uint32_t j, uint32_t groups,
                  const Parting& parting) {
    Evidence evidence{.function = func_, .root = root_};
    const TraceId first = OpOf(sequences, parting.first);
    const TraceId second = OpOf(sequences, parting.second);
    if (!first && !second) return false;
    evidence.node = Blame(scene, sequences, i, j, groups, parting);
    if (!evidence.node) {
      // Nothing decides it but the operation itself: its root, its group.
      evidence.kind = DifferenceKind::Mismatch;
      evidence.detail = parting.same_operation ? "root" : Detail(first, second);
      evidence.culprit = first ? first : second;
      evidence.victim = first && second ? second : TraceId::None();
    } else if (parting.same_operation) {
      evidence.kind = DifferenceKind::Mismatch;
      evidence.detail = "root";
      evidence.culprit = first;
      evidence.victim = second;
    } else if (traces_[evidence.node].kind == TraceKind::Loop) {
      evidence.kind = DifferenceKind::TripCount;
      evidence.culprit = first ? first : second;
    } else {
      ClassifyPair(scene, i, j, first, second, &evidence);
    }
    if (!evidence.culprit) return false;
    const TraceId cause = evidence.node ? evidence.node : evidence.culprit;
    Report(scene, sequences, evidence, cause);
    if (!evidence.node && second) MarkSettled(second);
    return true;
  }

  void ClassifyPair(Scene& scene, uint32_t i, uint32_t j, TraceId first, TraceId second, Evidence* evidence) {
    const Decision& decision = scene.Decide(traces_[evidence->node].value);
    const TraceId arm_i = traces_.Kids(evidence->node)[decision.truth.has(i) ? 0 : 1];
    const TraceId arm_j = traces_.Kids(evidence->node)[decision.truth.has(j) ? 0 : 1];
    const bool first_inside = first && Contains(traces_, arm_i, first);
    const bool second_inside = second && Contains(traces_, arm_j, second);
    evidence->reached = decision.truth;
    evidence->not_reached = Complement(scene, decision.truth);
    bool i_has_it = true;
    if (first_inside && second_inside) {
      evidence->kind = DifferenceKind::Mismatch;
      evidence->detail = Detail(first, second);
    } else if (first_inside || second_inside) {
      evidence->kind = DifferenceKind::Guard;
      i_has_it = first_inside;
    } else if (const TraceId exit = LeavingArm(arm_i, arm_j, first, second, &i_has_it)) {
      evidence->kind = DifferenceKind::EarlyExit;
      evidence->exit = exit;
    } else {
      evidence->kind = DifferenceKind::Guard;
      i_has_it = FirstOpIn(arm_i).has_value();
      const std::optional<TraceId> op = FirstOpIn(i_has_it ? arm_i : arm_j);
      if (op) (i_has_it ? first : second) = *op;
    }
    evidence->culprit = i_has_it ? first : second;
    evidence->victim = i_has_it ? second : first;
    if (decision.truth.has(i_has_it ? i : j)) return SetTwin(scene, i_has_it ? j : i, evidence);
    std::swap(evidence->reached, evidence->not_reached);
    SetTwin(scene, i_has_it ? j : i, evidence);
  }

  static RankSet Complement(Scene& scene, RankSet ranks) {
    return {static_cast<uint8_t>(RankSet::All(scene.world().size()).bits & ~ranks.bits)};
  }

  // The exit of the arm that leaves; `i_has_it`: whether the other rank is the one that goes on.
  TraceId LeavingArm(TraceId arm_i, TraceId arm_j, TraceId first, TraceId second, bool* i_has_it) {
    const TraceId exit_i = FirstExit(traces_, arm_i);
    const TraceId exit_j = FirstExit(traces_, arm_j);
    if (exit_j && first) {
      *i_has_it = true;
      return exit_j;
    }
    if (exit_i && second) {
      *i_has_it = false;
      return exit_i;
    }
    return TraceId::None();
  }

  // The rank that lacks the operation issues its like under another rank condition: these were meant as a pair.
  void SetTwin(Scene& scene, uint32_t lacking, Evidence* evidence) {
    if (evidence->kind != DifferenceKind::Guard || !evidence->culprit) return;
    for (const TraceId node : nodes_.choices) {
      const Trace& trace = traces_[node];
      if (node == evidence->node || trace.kind != TraceKind::Choice || settled_.contains(node.index)) continue;
      const Decision& decision = scene.Decide(trace.value);
      if (!decision.differs(scene.world().size())) continue;
      const TraceId arm = traces_.Kids(node)[decision.truth.has(lacking) ? 0 : 1];
      const std::optional<TraceId> twin = FirstOpIn(arm);
      if (!twin || !AlikeOps(*twin, evidence->culprit) || Contains(traces_, evidence->node, *twin)) continue;
      evidence->kind = DifferenceKind::Mismatch;
      evidence->detail = "count";
      if (!evidence->victim) evidence->victim = *twin;
      return;
    }
  }

  bool AlikeOps(TraceId a, TraceId b) const {
    return traces_.entry(a).operation.kind == traces_.entry(b).operation.kind &&
           traces_.operation(a).group == traces_.operation(b).group;
  }

  std::optional<TraceId> FirstOpIn(TraceId id) const {
    const Trace& trace = traces_[id];
    if ((trace.flags & kHasOp) == 0) return std::nullopt;
    if (trace.kind == TraceKind::Op) return id;
    for (const TraceId kid : traces_.Kids(id)) {
      if (const std::optional<TraceId> found = FirstOpIn(kid)) return found;
    }
    return std::nullopt;
  }

  std::string Detail(TraceId first, TraceId second) const {
    if (!first || !second) return "count";
    if (traces_.entry(first).operation.kind != traces_.entry(second).operation.kind) return "kind";
    return traces_.operation(first).group != traces_.operation(second).group ? "group" : "order";
  }

  TraceId OpOf(const SequenceStore& sequences, SeqId list) const {
    const SeqId op = sequences.FirstOp(list);
    return op == kNothing ? TraceId::None() : sequences[op].origin;
  }

  // ---- What each rank decides by its own values ----------------------------------------------------------------------

  void CheckOwn() {
    std::vector<Axes> all_axes;
    for (const TraceId node : nodes_.choices) {
      const Axes axes = NodeAxes(state_, node);
      if (!settled_.contains(node.index) && std::ranges::find(all_axes, axes) == all_axes.end()) all_axes.push_back(axes);
    }
    if (all_axes.empty() && !nodes_.has_handlers) return;
    Scene scene(state_, WorldsFor(nodes_.mentions)[0], {});
    DiscoverGroups(scene);
    for (const Axes axes : all_axes) CheckOwnAlong(scene, axes, {});
    if (nodes_.has_handlers) CheckOwnAlong(scene, {}, func_);
  }

  void CheckOwnAlong(Scene& scene, Axes axes, FuncId handlers_of) {
    for (uint32_t rank = 0; rank < scene.world().size(); ++rank) {
      SequenceStore sequences;
      const View view{.rank = rank, .groups = handlers_of ? ~0u : GroupsAlong(scene, axes)};
      Projector projector(state_, scene, sequences, view, settled_, axes, handlers_of);
      const SeqId whole = projector.Run(root_);
      const std::vector<OwnDecision> decisions = projector.own_decisions();
      for (const OwnDecision& decision : decisions) {
        if (full()) return;
        if (!settled_.contains(decision.node.index)) ReportOwn(scene, sequences, decision, rank, whole);
      }
    }
  }

  // The groups whose members differ along the axes.
  uint32_t GroupsAlong(Scene& scene, Axes axes) {
    uint32_t groups = 0;
    for (GroupIndex g = 0; g < scene.evaluator().group_count(); ++g) {
      if (Spans(scene.evaluator().group(g), axes)) groups |= 1u << g;
    }
    return groups;
  }

  static bool Spans(const GroupInfo& group, Axes axes) {
    if (group.kind != variation::GroupKind::AxisGroup) return true;
    const Axes anywhere = Axes::Of(Axis::Environment) | Axes::Of(Axis::Global) | Axes::Of(Axis::Local) |
                          Axes::Of(Axis::Node) | Axes::Of(group.axis);
    if (!(axes & anywhere).empty()) return true;
    const bool along_data = group.axis == Axis::DataParallel || group.axis == Axis::ExpertParallel ||
                            group.axis == Axis::OtherMesh;
    return along_data && axes.has(Axis::Data);
  }

  void ReportOwn(Scene& scene, SequenceStore& sequences, const OwnDecision& decision, uint32_t rank, SeqId) {
    Evidence evidence{.function = func_, .root = root_, .node = decision.node};
    evidence.own = true;
    evidence.handler = decision.handler;
    const Trace& node = traces_[decision.node];
    const std::optional<Parting> parting = FirstDifference(sequences, decision.first, decision.second);
    if (!parting) return;
    const TraceId first = OpOf(sequences, parting->first);
    const TraceId second = OpOf(sequences, parting->second);
    if (!first && !second) return;
    const Axes axes = NodeAxes(state_, decision.node);
    const Axes soft = Axes::Of(Axis::Data) | Axes::Of(Axis::Environment);
    evidence.culprit = first ? first : second;
    evidence.victim = first && second ? second : TraceId::None();
    if (node.kind == TraceKind::Try) {
      evidence.kind = DifferenceKind::Handler;
    } else if (node.kind == TraceKind::Loop) {
      evidence.kind = DifferenceKind::TripCount;
      evidence.victim = {};
    } else {
      ClassifyOwn(decision.node, first, second, &evidence);
      if (!(axes & soft).empty()) evidence.kind = DifferenceKind::DataBranch;
    }
    if (reported_culprits_.contains(evidence.culprit.index)) return MarkSettled(decision.node);
    SetOwnLists(scene, decision, rank, &evidence);
    Report(scene, sequences, evidence, decision.node);
  }

  void ClassifyOwn(TraceId node, TraceId first, TraceId second, Evidence* evidence) {
    const TraceId then_trace = traces_.Kids(node)[0];
    const TraceId else_trace = traces_.Kids(node)[1];
    const bool first_inside = first && Contains(traces_, then_trace, first);
    const bool second_inside = second && Contains(traces_, else_trace, second);
    evidence->kind = DifferenceKind::Guard;
    if (first_inside || second_inside) {
      evidence->culprit = first_inside ? first : second;
      evidence->victim = first_inside ? second : first;
      if (first_inside && second_inside) evidence->detail = Detail(first, second);
      return;
    }
    bool first_has_it = true;
    evidence->exit = LeavingArm(then_trace, else_trace, first, second, &first_has_it);
    if (!evidence->exit) return;
    evidence->kind = DifferenceKind::EarlyExit;
    evidence->culprit = first_has_it ? first : second;
    evidence->victim = first_has_it ? second : first;
  }

  // One rank goes one way, the others the other.
  void SetOwnLists(Scene& scene, const OwnDecision& decision, uint32_t rank, Evidence* evidence) {
    for (uint32_t other = 0; other < scene.world().size(); ++other) {
      evidence->lists.push_back(other == rank ? decision.second : decision.first);
    }
    evidence->not_reached = RankSet::Of(rank);
    evidence->reached = Complement(scene, evidence->not_reached);
  }

  // ---- Reporting -----------------------------------------------------------------------------------------------------

  void MarkSettled(TraceId node) {
    settled_.insert(node.index);
    reported_.insert(node.index);
  }

  void Report(Scene& scene, SequenceStore& sequences, Evidence evidence, TraceId cause) {
    const knowledge::Operation& operation = traces_.entry(evidence.culprit).operation;
    const bool branches = evidence.kind == DifferenceKind::Guard || evidence.kind == DifferenceKind::EarlyExit ||
                          evidence.kind == DifferenceKind::DataBranch;
    if (branches && (operation.op_class == OpClass::GroupCreate || operation.op_class == OpClass::Init)) {
      evidence.kind = DifferenceKind::GroupCreation;
    }
    evidence.is_guess = IsGuess(scene, evidence.culprit) || (evidence.kind == DifferenceKind::Mismatch &&
                                                            evidence.victim && IsGuess(scene, evidence.victim));
    if (evidence.lists.empty()) {
      for (uint32_t rank = 0; rank < scene.world().size(); ++rank) {
        evidence.lists.push_back(Project(scene, sequences, {.rank = rank, .groups = ~0u, .with_p2p = true}, settled_));
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

  bool IsGuess(Scene& scene, TraceId op) {
    Evaluator& evaluator = scene.evaluator();
    return evaluator.group(evaluator.Group(traces_.operation(op).group, 0)).is_guess;
  }

  State& state_;
  const TraceStore& traces_;
  FuncId func_;
  CheckResult* result_;
  TraceId root_;
  VaryingNodes nodes_;
  std::unordered_set<uint32_t> settled_;    // nodes of root_ that are taken as agreed
  std::unordered_set<uint32_t> reported_;   // those of them that callers take as agreed as well
  std::unordered_set<uint32_t> reported_culprits_;
  int found_ = 0;
};

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

}  // namespace allranks::traces
