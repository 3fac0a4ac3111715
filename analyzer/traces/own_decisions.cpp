// Conditions that no world decides: a rank's own data, the clock, the file system, an exception. Two ranks may take
// different arms at any time, so the arms, each followed by what it does not skip, must agree by themselves.
#include <algorithm>
#include <set>

#include "analyzer/traces/function_check.h"
#include "analyzer/traces/reach.h"

namespace allranks::traces {
namespace {

using knowledge::Axes;

const OwnDecision* Find(const std::vector<OwnDecision>& among, const OwnDecision& decision) {
  const auto found = std::ranges::find_if(among, [&](const OwnDecision& other) {
    return other.node == decision.node && other.handler == decision.handler;
  });
  return found == among.end() ? nullptr : &*found;
}

// Whether members of the group differ along the axes.
bool Spans(const GroupInfo& group, Axes axes) {
  if (group.kind != variation::GroupKind::AxisGroup) return true;
  const Axes anywhere = knowledge::kSurroundings | Axes::Of(Axis::Global) | Axes::Of(Axis::Local) |
                        Axes::Of(Axis::Node) | Axes::Of(group.axis);
  if (!(axes & anywhere).empty()) return true;
  // Ranks of one tensor parallel group, and the stages of one pipeline, work on the same batch.
  const bool along_data = group.axis == Axis::DataParallel || group.axis == Axis::ExpertParallel ||
                          group.axis == Axis::OtherMesh;
  return along_data && axes.has(Axis::Data);
}

uint32_t GroupsAlong(Scene& scene, Axes axes) {
  uint32_t groups = 0;
  for (GroupIndex g = 0; g < scene.evaluator().group_count(); ++g) {
    if (Spans(scene.evaluator().group(g), axes)) groups |= 1u << g;
  }
  return groups;
}

}  // namespace

void FunctionCheck::CheckOwn() {
  std::vector<Axes> all_axes;
  for (const TraceId node : nodes_.choices) {
    const Axes axes = NodeAxes(state_, node);
    if (!settled_.contains(node.index) && std::ranges::find(all_axes, axes) == all_axes.end()) all_axes.push_back(axes);
  }
  if (all_axes.empty() && !nodes_.has_handlers) return;
  const World world = WorldsFor(nodes_.mentions)[0];
  Scene scene(state_, world, History());
  Prepare(scene);
  // Conditions on the rank beside unknowns were decided with values for these; what is still open is each rank's own.
  Scene assigned(state_, world, Assignments(world)[0]);
  Prepare(assigned);
  Answers answers{.uses = SettingUses(traces_, AskedAgain()), .lists = {}, .made_up = {}};
  for (const Axes axes : all_axes) CheckOwnAlong(Without(axes, knowledge::kSoftAxes).empty() ? scene : assigned, axes, {}, answers);
  if (nodes_.has_handlers) CheckOwnAlong(scene, {}, func_, answers);
}

// Choices that ask for parts of a batch.
void FunctionCheck::CheckPresence() {
  if (!nodes_.has_presence_tests) return;
  Scene scene(state_, WorldsFor(nodes_.mentions)[0], History());
  Prepare(scene);
  Answers answers{.uses = SettingUses(traces_, AskedAgain()), .lists = {}, .made_up = {}};
  CheckOwnAlong(scene, Axes::Of(Axis::Data), {}, answers, true);
}

// The conditions that choices ask at more than one place, without `not`.
std::vector<ValueId> FunctionCheck::AskedAgain() const {
  std::vector<ValueId> asked;
  for (const TraceId node : nodes_.choices) {
    if (IsAskedAgain(node)) asked.push_back(WithoutNot(traces_[node].value));
  }
  std::ranges::sort(asked);
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  return asked;
}

bool FunctionCheck::IsAskedAgain(TraceId node) const {
  return traces_[node].kind == TraceKind::Choice && nodes_.recurring.contains(Asked(state_.values, traces_[node].value).key);
}

ValueId FunctionCheck::WithoutNot(ValueId condition) const {
  while (state_.values[condition].is_not()) condition = state_.values.Kids(condition)[0];
  return condition;
}

std::vector<OwnDecision> FunctionCheck::OwnDecisions(Scene& scene, SequenceStore& sequences, const View& view, Axes axes,
                                                     FuncId handlers_of) {
  Projector projector(state_, scene, sequences, view, settled_, axes, handlers_of);
  projector.Run(root_);
  return projector.own_decisions();
}

void FunctionCheck::CheckOwnAlong(Scene& scene, Axes axes, FuncId handlers_of, Answers& answers, bool by_presence) {
  ClassPasses passes(scene);
  SequenceStore sequences;
  for (uint32_t rank = 0; rank < scene.world().size(); ++rank) {
    if (!passes.Needs(rank, settled_.size())) continue;
    View view{.rank = rank, .groups = handlers_of ? ~0u : GroupsAlong(scene, axes), .by_presence = by_presence};
    const std::vector<OwnDecision> all = OwnDecisions(scene, sequences, view, axes, handlers_of);
    if (all.empty()) continue;
    view.issuing = ToldWith(Issuing::Always);
    const std::vector<OwnDecision> without_strategies = OwnDecisions(scene, sequences, view, axes, handlers_of);
    std::optional<std::unordered_set<uint32_t>> reached, by_peers;
    for (const Issuing issuing : kSurestFirst) {
      view.issuing = issuing;
      for (const OwnDecision& decision : OwnDecisions(scene, sequences, view, axes, handlers_of)) {
        if (full()) return;
        const OwnDecision* whole = Find(all, decision);
        const OwnDecision* told = issuing == Issuing::UnderStrategy ? whole : Find(without_strategies, decision);
        if (whole == nullptr || told == nullptr || !FirstDifference(sequences, decision.first, decision.second)) continue;
        if (!FirstDifference(sequences, whole->first, whole->second)) continue;
        if (!reached) reached = NodesReached(state_, scene, root_, rank);
        if (!by_peers) by_peers = ReachedByPeers(scene, rank, view.groups);
        // What one rank alone decides is compared with what the others do instead.
        const bool is_shared = reached->contains(decision.node.index) && by_peers->contains(decision.node.index);
        if (!is_shared || settled_.contains(decision.node.index) || IsMadeUpLater(scene, decision.node, view, answers)) continue;
        ReportOwn(scene, sequences, *whole, *told, view);
      }
    }
  }
}

// `if late: barrier()`, and later `if not late: barrier()`: what a rank answers it answers wherever it is asked the same, and it
// issues the same in the end.
bool FunctionCheck::IsMadeUpLater(Scene& scene, TraceId node, View view, Answers& answers) {
  if (!IsAskedAgain(node)) return false;
  view.issuing = Issuing::UnderStrategy;
  const ValueId asked = WithoutNot(traces_[node].value);
  const auto [known, is_new] = answers.made_up.try_emplace({asked, view.rank, view.groups, settled_.size()}, false);
  if (is_new) known->second = IssuedIf(scene.world(), asked, 1, view, answers) == IssuedIf(scene.world(), asked, 0, view, answers);
  return known->second;
}

// What a rank issues where the answer is that: whether it ends in an exception, and the hash of its list.
std::pair<bool, uint64_t> FunctionCheck::IssuedIf(const World& world, ValueId asked, int64_t answer, const View& view, Answers& answers) {
  Assignment assignment = History();
  assignment[asked.index] = answer;
  Scene answered(state_, world, std::move(assignment));
  answered.SetUses(answers.uses);
  FindGroups(answered);
  answered.Follow(nodes_);
  SequenceStore& sequences = ListsFor(answered, answers.lists);
  const SeqId list = Projector(state_, answered, sequences, view, settled_).Run(root_);
  return {list == kRaised, sequences[list].hash};
}

// The nodes that some other rank of one of the groups reaches as well.
std::unordered_set<uint32_t> FunctionCheck::ReachedByPeers(Scene& scene, uint32_t rank, uint32_t groups) {
  std::unordered_set<uint32_t> reached;
  std::set<uint32_t> seen;
  for (uint32_t other = 0; other < scene.world().size(); ++other) {
    bool is_peer = false;
    for (GroupIndex g = 0; g < scene.evaluator().group_count(); ++g) {
      is_peer = is_peer || ((groups >> g & 1u) != 0 && scene.evaluator().group(g).members[rank].has(other));
    }
    if (other == rank || !is_peer || !seen.insert(scene.ClassOf(other)).second) continue;
    reached.merge(NodesReached(state_, scene, root_, other));
  }
  return reached;
}

// `decision`: with the operations that it is told with; `whole`: with all that may be issued.
void FunctionCheck::ReportOwn(Scene& scene, SequenceStore& sequences, const OwnDecision& whole, const OwnDecision& decision,
                              const View& view) {
  const std::optional<Parting> parting = FirstDifference(sequences, decision.first, decision.second);
  if (!parting) return;
  const TraceId first = OpOf(sequences, parting->first);
  const TraceId second = OpOf(sequences, parting->second);
  if (!first && !second) return;
  Evidence evidence;
  evidence.node = decision.node;
  evidence.own = true;
  evidence.by_presence = view.by_presence;
  evidence.issuing = view.issuing;
  evidence.handler = decision.handler;
  evidence.culprit = first ? first : second;
  evidence.victim = first && second ? second : TraceId::None();
  const TraceKind kind = traces_[decision.node].kind;
  const RankSet kept_out = kind == TraceKind::Choice ? KeptOutOf(scene, decision.node) : RankSet();
  if (kind == TraceKind::Try) {
    evidence.kind = DifferenceKind::Handler;
  } else if (kind == TraceKind::Loop) {
    evidence.kind = DifferenceKind::TripCount;
    evidence.culprit = OpOf(sequences, decision.first);
    evidence.victim = {};
    if (IsMadeUpElsewhere(decision.node, evidence.culprit)) evidence.assumptions.Add(findings::Assumption::OtherSideUnknown);
  } else {
    ClassifyOwn(decision.node, first, second, &evidence);
    evidence.keeps_others_out = !kept_out.empty();
    const bool is_soft = view.by_presence || !(NodeAxes(state_, decision.node) & knowledge::kSoftAxes).empty();
    if (kept_out.empty() && is_soft) evidence.kind = DifferenceKind::DataBranch;
  }
  // The operation was reported with this cause, or with one inside or around it: one defect, one finding.
  if (IsPartOfReported(evidence.culprit, decision.node)) return MarkSettled(decision.node);
  // One rank goes the way on which the operation is missing, the others the other.
  const bool is_in_second = evidence.culprit == second && evidence.culprit != first;
  RankSet on_first = is_in_second ? RankSet::Of(view.rank) : Complement(scene, RankSet::Of(view.rank));
  if (!kept_out.empty()) on_first = Complement(scene, kept_out);
  for (uint32_t rank = 0; rank < scene.world().size(); ++rank) {
    evidence.lists.push_back(on_first.has(rank) ? decision.first : decision.second);
    evidence.whole.push_back(on_first.has(rank) ? whole.first : whole.second);
  }
  evidence.reached = is_in_second ? Complement(scene, on_first) : on_first;
  evidence.not_reached = Complement(scene, evidence.reached);
  if (!IsReachedBy(scene, evidence.reached, evidence.culprit)) return;
  Report(scene, sequences, evidence, decision.node);
}

// The ranks that `if rank == 0 and loss > limit:` keeps out, whatever they find, where others may come in; else none.
RankSet FunctionCheck::KeptOutOf(Scene& scene, TraceId node) const {
  RankSet kept_out;
  for (uint32_t rank = 0; rank < scene.world().size(); ++rank) {
    const std::optional<bool> truth = scene.evaluator().Truth(traces_[node].value, rank);
    if (truth && *truth) return {};
    if (truth) kept_out = kept_out | RankSet::Of(rank);
  }
  return kept_out == RankSet::All(scene.world().size()) ? RankSet() : kept_out;
}

// Whether any of these ranks comes there: another test may keep all of them out.
bool FunctionCheck::IsReachedBy(Scene& scene, RankSet ranks, TraceId node) {
  for (uint32_t rank = 0; rank < scene.world().size(); ++rank) {
    if (ranks.has(rank) && NodesReached(state_, scene, root_, rank).contains(node.index)) return true;
  }
  return false;
}

bool FunctionCheck::IsPartOfReported(TraceId culprit, TraceId node) const {
  const auto found = reported_culprits_.find(culprit.index);
  return found != reported_culprits_.end() && std::ranges::any_of(found->second, [&](TraceId cause) {
    return Contains(traces_, cause, node) || Contains(traces_, node, cause);
  });
}

void FunctionCheck::ClassifyOwn(TraceId node, TraceId first, TraceId second, Evidence* evidence) const {
  const TraceId then_trace = traces_.Kids(node)[0];
  const TraceId else_trace = traces_.Kids(node)[1];
  const bool first_inside = first && Contains(traces_, then_trace, first);
  const bool second_inside = second && Contains(traces_, else_trace, second);
  evidence->kind = DifferenceKind::Guard;
  if (first_inside || second_inside) {
    evidence->culprit = first_inside ? first : second;
    evidence->victim = first_inside ? second : first;
    if (first_inside && second_inside) evidence->detail = DetailOf(first, second);
    return;
  }
  bool first_has_it = true;
  evidence->exit = LeavingArm(node, then_trace, else_trace, first, second, &first_has_it);
  if (!evidence->exit) return;
  evidence->kind = DifferenceKind::EarlyExit;
  evidence->culprit = first_has_it ? first : second;
  evidence->victim = first_has_it ? second : first;
}

}  // namespace allranks::traces
