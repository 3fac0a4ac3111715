// One function: in which order its comparisons run, and how a difference becomes a report.
//
// Functions come callees first. What was reported, and what was proven to agree whatever callers pass, is settled: callers
// take it as agreed, so one defect is reported once, in the innermost function that shows it. A difference that hangs on
// what only callers know (a group, a setting) is not settled.
#include "analyzer/traces/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "analyzer/traces/conditions.h"
#include "analyzer/traces/function_check.h"
#include "analyzer/traces/history.h"
#include "analyzer/traces/recursion.h"
#include "analyzer/traces/standing.h"
#include "analyzer/variation/whole_job.h"

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

void NoteOpen(State& state, const Found& found) {
  state.open_conditions.insert(found.condition.index);
  if (found.is_of_operation) state.open_operations.insert(found.condition.index);
}

void CheckFunction(State& state, FuncId func, CheckResult* result) {
  const TraceId trace = state.trace_of[func.index];
  const uint16_t flags = state.traces[trace].flags;
  if (SurelyMeetsBound(state, trace)) state.limits.push_back({func, kRecursionBound});
  if ((flags & kHasOp) == 0 || (flags & (kVarying | kHasTry | kOpenParams)) == 0 || IsHalf(state, func)) return;
  FunctionCheck(state, func, result).Run();
}

void FunctionCheck::Run() {
  const uint32_t module = state_.program.funcs[func_].module.index;
  state_.BeginSteps(module);
  const TraceId parametric = state_.trace_of[func_.index];
  root_ = Instantiate(state_, parametric, OwnBinding(), &origins_);
  NoteOwnDepth(state_, root_);
  if ((traces_[root_].flags & (kVarying | kHasTry)) == 0) return;
  // Where history says that nobody gets there, nobody differs there.
  const std::vector<Judged> judged = JudgedIn(state_, func_, root_);
  const bool is_entry = state_.program.funcs[func_].function == ir::kTopLevel;
  root_ = WithHistory(state_, root_, is_entry, &before_history_);
  nodes_ = CollectVarying(state_, root_);
  Compare();
  // Ranks that get there first: what differs then, and does not otherwise, hangs on that.
  is_first_arrival_ = !nodes_.made.empty();
  if (is_first_arrival_) Compare();
  state_.steps_of_file[module] += state_.projection_steps;
  NoteLimits();
  if (!full()) result_->judged.insert(result_->judged.end(), judged.begin(), judged.end());
  const bool has_open = LeaveOpen();
  std::unordered_set<uint32_t> reported;
  for (const uint32_t node : reported_) reported.insert(OriginOf(TraceId{node}).index);
  const bool is_generator = state_.program.function(func_).is_generator;
  state_.trace_of[func_.index] = Settle(state_, parametric, reported, !is_generator && !has_open && !leaves_messages_ && !HangsOnCallers(parametric));
}

// The node of the parametric trace that one of `root_` was made of.
TraceId FunctionCheck::OriginOf(TraceId node) const {
  const auto before = before_history_.find(node.index);
  const TraceId instance = before == before_history_.end() ? node : before->second;
  // What lies in a part without parameters is its own origin.
  const auto origin = origins_.find(instance.index);
  return origin == origins_.end() ? instance : origin->second;
}

// Whether something that tells ranks apart, or what they issue then, hangs on what callers pass: what agrees with it here may not with
// what they pass, and callers cannot look at it again while the other half is taken as agreed.
bool FunctionCheck::HangsOnCallers(TraceId parametric) const {
  const auto is_open = [&](ValueId value) { return value && state_.values.has_param(value); };
  const auto matters = [&](TraceId node) { return (traces_[node].flags & (kHasOp | kLeavesMask)) != 0; };
  // Told apart by what is passed: `if rank == 0` of a parameter says so only with what callers pass.
  const bool is_told_apart = std::ranges::any_of(nodes_.deciding, [&](TraceId node) {
    const bool may_vary = !NodeAxes(state_, node).empty() || is_open(traces_[node].value);
    return may_vary && matters(node) && is_open(traces_[OriginOf(node)].value);
  });
  const VaryingNodes nodes = CollectVarying(state_, parametric);
  return is_told_apart || std::ranges::any_of(nodes.choices, [&](TraceId node) {
    return matters(node) && (traces_[node].flags & kOpenParams) != 0;
  });
}

// Differences of presence stay open for callers, unless there are so many that looking at them again would take long.
bool FunctionCheck::LeaveOpen() {
  constexpr size_t kMostOpen = 8;
  const bool is_too_much = open_.size() > kMostOpen || state_.exhausted();
  if (is_too_much) reported_.insert(open_.begin(), open_.end());
  for (Found& found : std::span(result_->found).subspan(found_before_)) {
    if (!found.is_open) continue;
    if (is_too_much) found.is_open = false;
    else NoteOpen(state_, found);
  }
  return !is_too_much && !open_.empty();
}

void FunctionCheck::Compare() {
  CheckMembers();
  CheckNewGroups();
  CheckPairs();
  CheckOwn();
  CheckShapes();
  CheckCounts();
  CheckOrders();
  CheckTypes();
  CheckPointToPoint();
  CheckCircles();
  // After all that is surer.
  CheckPresence();
  if (!nodes_.has_guesses) return;
  with_guesses_ = true;
  CheckPairs();
  with_guesses_ = false;
}

// Of all things that are made once and may be made already: that they are, or that none is.
Assignment FunctionCheck::History() const {
  Assignment assignment;
  for (const ValueId made : nodes_.made) assignment.emplace(made.index, is_first_arrival_ ? 0 : 1);
  return assignment;
}

void FunctionCheck::NoteLimits() {
  const auto note = [&](std::string bound) { state_.limits.push_back({func_, std::move(bound)}); };
  if (state_.exhausted()) {
    const bool is_of_file = state_.most_steps < State::kMostSteps;
    note(is_of_file ? fmt::format("comparison of ranks with more than {} steps in this file", State::kMostStepsOfFile)
                    : fmt::format("comparison of ranks with more than {} steps", State::kMostSteps));
  }
  if (state_.meets_cut_recursion && !SurelyMeetsBound(state_, state_.trace_of[func_.index])) note(kRecursionBound);
  if (found_ >= kMostDifferences) note("more than 12 differences");
  if (has_unread_settings_) note("conditions on the rank with more than 11 unknown settings");
}

// What is known of parameters where the function is looked at by itself.
Binding FunctionCheck::OwnBinding() const {
  Binding binding{.func = func_, .args = Params(func_), .around = {}};
  for (FuncId around = state_.program.funcs[func_].parent; around; around = state_.program.funcs[around].parent) {
    binding.around.push_back({around, Params(around)});
  }
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

// So that groups have the same numbers in all scenes of a world.
void FunctionCheck::FindGroups(Scene& scene) {
  for (const TraceId op : nodes_.ops) {
    for (uint32_t rank = 0; rank < scene.world().size(); ++rank) {
      scene.evaluator().Group(traces_.operation(op).group, rank);
    }
  }
}

void FunctionCheck::Prepare(Scene& scene) {
  FindGroups(scene);
  scene.FindClasses(traces_, nodes_);
}

SeqId FunctionCheck::ProjectFor(Scene& scene, SequenceStore& sequences, uint32_t rank, View view) {
  view.rank = scene.ClassOf(rank);
  view.with_guesses = with_guesses_;
  return Projector(state_, scene, sequences, view, settled_).Run(root_);
}

TraceId OpOf(const SequenceStore& sequences, SeqId list) {
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

Detail FunctionCheck::DetailOf(TraceId first, TraceId second) const {
  if (!first || !second) return Detail::Count;
  if (traces_.entry(first).operation.kind != traces_.entry(second).operation.kind) return Detail::Kind;
  return traces_.operation(first).group != traces_.operation(second).group ? Detail::Group : Detail::Order;
}

// The exits at `node` that lead past `op`: a `return` skips nothing of what the caller does afterwards.
uint16_t FunctionCheck::ExitsPast(TraceId node, TraceId op) const {
  constexpr uint16_t kAll = kLeavesMask & ~kLeavesRaise;
  const std::vector<TraceId> path = PathTo(traces_, root_, node);
  const auto call = std::find_if(path.rbegin(), path.rend(), [&](TraceId id) { return traces_[id].kind == TraceKind::Scope; });
  const bool is_inside = call == path.rend() || !op || Contains(traces_, *call, op);
  return is_inside ? kAll : kAll & ~kLeavesReturn;
}

// The exit of the arm of `node` that leaves; `first_has_it`: whether the first one is the one that goes on.
TraceId FunctionCheck::LeavingArm(TraceId node, TraceId first_arm, TraceId second_arm, TraceId first, TraceId second,
                                  bool* first_has_it) const {
  const TraceId first_exit = FirstExit(traces_, first_arm, ExitsPast(node, second));
  const TraceId second_exit = FirstExit(traces_, second_arm, ExitsPast(node, first));
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
  AssumeGroup(scene, &evidence);
  if (with_guesses_) evidence.assumptions.Add(findings::Assumption::ClassUnknown);
  if (is_first_arrival_) evidence.assumptions.Add(findings::Assumption::FirstArrival);
  const World& world = scene.world();
  if (world.HasOddNodes() && nodes_.mentions.divisor != world.per_node) evidence.assumptions.Add(findings::Assumption::OddNodes);
  evidence.issuing = std::max(evidence.issuing, IssuingOf(operation));
  if (evidence.lists.empty()) {
    for (uint32_t rank = 0; rank < scene.world().size(); ++rank) {
      evidence.lists.push_back(ProjectFor(scene, sequences, rank, {.issuing = ToldWith(evidence.issuing), .with_p2p = true}));
      evidence.whole.push_back(ProjectFor(scene, sequences, rank, {.with_p2p = true}));
    }
  }
  Difference difference = Describe(state_, scene, sequences, evidence);
  settled_.insert(cause.index);
  const bool is_open = IsOfPresence(evidence);
  if (is_open) open_.insert(cause.index);
  else if (!IsForCallers(evidence)) reported_.insert(cause.index);
  // What is hardly more than a suspicion leaves the operation to surer findings.
  const bool is_suspicion = findings::ConfidenceOf(difference.assumptions) == findings::Confidence::Possible;
  if (!is_suspicion) reported_culprits_[evidence.culprit.index].push_back(cause);
  Found found{.difference = std::move(difference), .by = func_, .condition = {}, .is_open = is_open, .is_of_operation = !evidence.node, .sites = FlaggedSites(sequences, evidence)};
  if (evidence.node) found.condition = traces_[evidence.node].site;
  else if (is_open) found.condition = traces_[evidence.culprit].site;
  // What a callee left open counts there.
  const bool is_callees = found.condition && state_.open_conditions.contains(found.condition.index);
  if (!is_callees) ++found_;
  result_->found.push_back(std::move(found));
}

// That some ranks issue what others do not: what callers issue before or after may make up for it. That a rank is not in the group, or names
// another root: callers may keep it away.
bool FunctionCheck::IsOfPresence(const Evidence& evidence) const {
  if (evidence.own || is_first_arrival_ || IsForCallers(evidence)) return false;
  if (evidence.kind == DifferenceKind::NotMember) return evidence.detail == Detail::Member;
  if (!evidence.node) return evidence.kind == DifferenceKind::Mismatch && evidence.detail == Detail::Root;
  const bool is_count = evidence.kind == DifferenceKind::Mismatch && evidence.twin;
  return is_count || evidence.kind == DifferenceKind::Guard || evidence.kind == DifferenceKind::EarlyExit ||
         evidence.kind == DifferenceKind::TripCount;
}

// The operations that not all ranks issue, on the group of the culprit; all of a loop that ranks run a different
// number of times; and both sides where two operations meet.
std::vector<SiteId> FunctionCheck::FlaggedSites(const SequenceStore& sequences, const Evidence& evidence) const {
  constexpr size_t kFarAhead = 256;
  std::vector<SiteId> flagged;
  const auto flag = [&](TraceId op) { flagged.push_back(traces_[op].site); };
  flag(evidence.culprit);
  const bool meets = evidence.kind == DifferenceKind::Mismatch || evidence.kind == DifferenceKind::PointToPoint;
  if (meets && evidence.victim) flag(evidence.victim);
  const ValueId group = traces_.operation(evidence.culprit).group;
  std::map<TraceId, size_t> ranks_with;
  for (const SeqId list : evidence.whole) {
    std::vector<SeqId> ops;
    sequences.Flatten(list, kFarAhead, &ops);
    std::set<TraceId> issued;
    for (const SeqId op : ops) issued.insert(sequences[op].origin);
    for (const TraceId op : issued) ++ranks_with[op];
  }
  const bool is_loop = evidence.node && traces_[evidence.node].kind == TraceKind::Loop;
  for (const auto& [op, count] : ranks_with) {
    if (traces_.operation(op).group != group) continue;
    if (count < evidence.whole.size() || (is_loop && Contains(traces_, evidence.node, op))) flag(op);
  }
  return flagged;
}

// Of a group whose members are not known only presence can be told: that one rank of it comes and the others do not,
// provided that it is a group of several. Which members take which path, and in which order, is a guess.
void FunctionCheck::AssumeGroup(Scene& scene, Evidence* evidence) const {
  using findings::Assumption;
  if (AsksOtherGroup(scene, *evidence)) evidence->assumptions.Add(Assumption::GroupUnknown);
  const bool meets = evidence->kind == DifferenceKind::Mismatch && evidence->victim;
  const bool is_guess = IsGuess(scene, evidence->culprit) || (meets && IsGuess(scene, evidence->victim));
  if (!is_guess) return;
  const bool compares = evidence->kind == DifferenceKind::Mismatch && evidence->detail != Detail::Kind;
  // Roots on such a group are read only where they are asked of that very group.
  const bool of_the_group = evidence->detail == Detail::Root && evidence->kind == DifferenceKind::Mismatch;
  // Messages between places in the group are the same, whoever has these places.
  const bool are_messages = evidence->kind == DifferenceKind::PointToPoint;
  if (are_messages && AsksThisGroupOnly(traces_.operation(evidence->culprit).group)) return;
  const bool tells = of_the_group || (!compares && SinglesOut(*evidence));
  evidence->assumptions.Add(tells ? Assumption::ValueNotTraced : Assumption::GroupUnknown);
}

// `rank == 0`, or the rank in the very group: whatever its members are, one of them goes another way than the rest.
bool FunctionCheck::SinglesOut(const Evidence& evidence) const {
  if (!evidence.node || traces_[evidence.node].kind != TraceKind::Choice) return false;
  // Clocks and files differ between any two processes.
  if (evidence.own) return !(NodeAxes(state_, evidence.node) & knowledge::kSurroundings).empty();
  // `if rank == source: broadcast(x, source, pair)`: the half of the sender, of a group that nobody else here may be in.
  const ValueId root = traces_.operation(evidence.culprit).root;
  const bool is_of_sender = root && IsUniformUnknown(state_.values, root) && IsMadeOf(state_.values, traces_[evidence.node].value, root);
  if (is_of_sender) return false;
  return SinglesOutRank(state_.values, traces_[evidence.node].value, traces_.operation(evidence.culprit).group);
}

// How a rank's place in one group goes with its place in another is not known.
bool FunctionCheck::AsksOtherGroup(Scene& scene, const Evidence& evidence) const {
  if (!evidence.node) return false;
  const TraceKind kind = traces_[evidence.node].kind;
  if (kind != TraceKind::Choice && kind != TraceKind::Loop) return false;
  const ValueId group = traces_.operation(evidence.culprit).group;
  if (variation::IsOfAllRanks(state_.values, group)) return false;
  // Of a group whose ranks are known, and a list of ranks that is, all is known.
  const bool is_guess = IsGuess(scene, evidence.culprit);
  const auto is_known = [&](ValueId list) { return !is_guess && scene.evaluator().ListOf(list, 0); };
  return AsksForMembership(state_.values, traces_[evidence.node].value, group, is_known);
}

// Whether all that decides in the function, and all partners, are places in that very group: any group of so many ranks behaves
// as a job of that size does.
bool FunctionCheck::AsksThisGroupOnly(ValueId group) const {
  const auto is_told = [&](ValueId value) { return !value || AsksGroupOnly(state_.values, value, group); };
  const bool are_told = std::ranges::all_of(nodes_.deciding, [&](TraceId node) { return is_told(traces_[node].value); });
  return are_told && std::ranges::all_of(nodes_.ops, [&](TraceId op) {
    const Operation& operation = traces_.operation(op);
    const bool is_message = knowledge::IsMessage(traces_.entry(op).operation.op_class);
    return !is_message || (operation.group == group && is_told(operation.peer) && is_told(operation.from));
  });
}

bool FunctionCheck::IsGuess(Scene& scene, TraceId op) const {
  Evaluator& evaluator = scene.evaluator();
  const GroupInfo& group = evaluator.group(evaluator.Group(traces_.operation(op).group, 0));
  return group.is_guess || (group.kind == variation::GroupKind::Created && !group.has_known_ranks);
}

// A guess about the group, or about what a setting is, is for callers to settle, who know what they pass.
bool FunctionCheck::IsForCallers(const Evidence& evidence) {
  return evidence.assumptions.has(findings::Assumption::GroupUnknown) ||
         evidence.assumptions.has(findings::Assumption::OtherSideUnknown) ||
         evidence.assumptions.has(findings::Assumption::FirstArrival);
}

bool FunctionCheck::full() const { return found_ >= kMostDifferences || state_.exhausted(); }

RankSet Complement(const Scene& scene, RankSet ranks) {
  return RankSet::All(scene.world().size()).Without(ranks);
}

}  // namespace allranks::traces
