// Operations that are wrong by themselves: called by a rank that is not in the group, with a root outside it, with
// shapes that differ.
#include <algorithm>
#include <bit>

#include "analyzer/traces/conditions.h"
#include "analyzer/traces/counts.h"
#include "analyzer/traces/function_check.h"
#include "analyzer/traces/reach.h"

namespace allranks::traces {
namespace {

// Whether each rank lists itself and no other.
bool AreAlone(Evaluator& evaluator, ValueId members) {
  for (uint32_t rank = 0; rank < evaluator.world().size(); ++rank) {
    const std::optional<std::vector<int64_t>> list = evaluator.ListOf(members, rank);
    if (!list || list->size() != 1 || list->front() != rank) return false;
  }
  return true;
}

}  // namespace

// By some rank.
bool FunctionCheck::IsReached(Scene& scene, TraceId op) const {
  bool is_reached = false;
  for (uint32_t rank = 0; rank < scene.world().size() && !is_reached; ++rank) {
    is_reached = NodesReached(state_, scene, root_, rank).contains(op.index);
  }
  return is_reached;
}

// Every rank must create the same group: a list of members that is another on each rank makes a group that none of them
// shares with the others.
void FunctionCheck::CheckNewGroups() {
  if (!nodes_.ops_vary) return;
  for (const TraceId op : nodes_.ops) {
    const ValueId members = traces_.operation(op).members;
    if (!members || (traces_[op].flags & kSettled) != 0 || settled_.contains(op.index)) continue;
    const knowledge::Axes axes = state_.values.axes(members);
    if (axes.empty()) continue;
    // `range(start, start + 2)` of `rank // 2 * 2` is one list where there are two ranks.
    const std::vector<World> worlds = WorldsFor(nodes_.mentions);
    const auto differs = [&](const World& world) { return !IsSameOnAllRanks(state_.values, state_.knowledge, world, members); };
    const auto world = std::ranges::find_if(worlds, differs);
    if (world == worlds.end()) continue;
    Scene scene(state_, *world, {});
    Prepare(scene);
    // `new_group([rank])`: nobody is missed in a group of one, and all ranks come to make one.
    if (AreAlone(scene.evaluator(), members) || !IsReached(scene, op)) continue;
    SequenceStore sequences;
    Evidence evidence;
    evidence.kind = DifferenceKind::GroupCreation;
    evidence.culprit = op;
    evidence.own = true;
    evidence.axes = axes;
    evidence.detail = Detail::Member;
    Report(scene, sequences, evidence, op);
  }
}

void FunctionCheck::CheckShapes() {
  if (!nodes_.ops_vary) return;
  for (const TraceId op : nodes_.ops) {
    const Trace& trace = traces_[op];
    if ((trace.flags & (kVarying | kSettled)) != kVarying || !traces_.IsRagged(op)) continue;
    if (settled_.contains(op.index) || reported_culprits_.contains(op.index)) continue;
    Scene scene(state_, WorldsFor(nodes_.mentions)[0], {});
    ReportShape(scene, op, {});
  }
}

void FunctionCheck::ReportShape(Scene& scene, TraceId op, knowledge::Axes axes) {
  SequenceStore sequences;
  Evidence evidence;
  evidence.kind = DifferenceKind::Shape;
  evidence.culprit = op;
  evidence.own = true;
  evidence.detail = Detail::ElementCount;
  evidence.axes = axes;
  Report(scene, sequences, evidence, op);
}

// Where a count follows from the rank by a formula, comparing ranks has said all.
void FunctionCheck::CheckCounts() {
  if (!nodes_.ops_vary) return;
  for (const TraceId op : nodes_.ops) {
    if ((traces_[op].flags & (kVarying | kSettled)) != kVarying || settled_.contains(op.index)) continue;
    if (reported_culprits_.contains(op.index)) continue;
    const Operation& operation = traces_.operation(op);
    const bool has_one_type = !operation.dtype || state_.values.axes(operation.dtype).empty();
    const bool is_message = operation.peer.has_value();
    if (is_message || !operation.count || state_.values.axes(operation.count).empty() || !has_one_type) continue;
    for (const World& world : WorldsFor(nodes_.mentions)) {
      Scene scene(state_, world, {});
      const GroupInfo& group = scene.evaluator().group(scene.evaluator().Group(operation.group, 0));
      // Of a part of the ranks, those of one part may well agree.
      if (group.members[0] != RankSet::All(world.size()) && !group.is_guess) continue;
      const knowledge::Axes axes = OwnCountAxes(state_.values, state_.knowledge, world, operation.count);
      if (axes.empty()) continue;
      ReportShape(scene, op, axes);
      break;
    }
  }
}

// `for name in {"a", "b"}: all_reduce(grads[name])`: as many operations on each rank, of one kind, about other tensors.
void FunctionCheck::CheckOrders() {
  if (!nodes_.ops_vary) return;
  for (const TraceId op : nodes_.ops) {
    if ((traces_[op].flags & (kVarying | kSettled)) != kVarying || settled_.contains(op.index) || reported_culprits_.contains(op.index)) continue;
    const Operation& operation = traces_.operation(op);
    const bool adds_up = static_cast<bool>(traces_.entry(op).operation.reduce_op_param);
    if (!operation.tensor || !IsPickedInHashOrder(state_.values, operation.tensor, adds_up)) continue;
    Scene scene(state_, WorldsFor(nodes_.mentions)[0], {});
    SequenceStore sequences;
    Evidence evidence;
    evidence.kind = DifferenceKind::Mismatch;
    evidence.culprit = op;
    evidence.own = true;
    evidence.detail = Detail::Order;
    evidence.axes = knowledge::Axes::Of(knowledge::Axis::HashOrder);
    Report(scene, sequences, evidence, op);
  }
}

void FunctionCheck::CheckTypes() {
  if (!nodes_.ops_vary) return;
  for (const TraceId op : nodes_.ops) {
    if ((traces_[op].flags & kSettled) != 0 || !traces_.HasOtherType(op) || settled_.contains(op.index)) continue;
    Scene scene(state_, WorldsFor(nodes_.mentions)[0], {});
    SequenceStore sequences;
    Evidence evidence;
    evidence.kind = DifferenceKind::Mismatch;
    evidence.culprit = op;
    evidence.detail = Detail::OtherDtype;
    Report(scene, sequences, evidence, op);
  }
}

// `def reduce(x, group)`: whoever passes the group knows which ranks get there, and is asked as well.
bool FunctionCheck::IsGivenByCallers(const Outsider& outsider) const {
  const Operation& operation = traces_.operation(OriginOf(outsider.op));
  const auto is_given = [&](ValueId value) { return value && state_.values.has_param(value); };
  return is_given(operation.group) || (outsider.is_root && is_given(operation.root));
}

// What stands in a handler is run by those ranks on which something failed, and others than these need not come there.
bool FunctionCheck::IsInHandler(TraceId op) const {
  const std::vector<TraceId> path = PathTo(traces_, root_, op);
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    if (traces_[path[i]].kind != TraceKind::Try) continue;
    const auto handlers = traces_.Kids(path[i]).subspan(kTryHandlers);
    if (std::ranges::find(handlers, path[i + 1]) != handlers.end()) return true;
  }
  return false;
}

void FunctionCheck::CheckMembers() {
  // Who calls an inner function, the function around it says: it has the group as well.
  if (!nodes_.ops_vary || state_.program.funcs[func_].parent) return;
  for (const World& world : WorldsFor(nodes_.mentions)) {
    Scene scene(state_, world, History());
    Prepare(scene);
    ClassPasses passes(scene);
    for (uint32_t rank = 0; rank < world.size(); ++rank) {
      if (!passes.Needs(rank, settled_.size())) continue;
      SequenceStore sequences;
      Projector projector(state_, scene, sequences, {.rank = rank}, settled_);
      projector.Run(root_);
      if (projector.outsiders().empty()) continue;
      const std::unordered_set<uint32_t> reached = NodesReached(state_, scene, root_, rank);
      for (const Outsider& outsider : projector.outsiders()) {
        if (full() || settled_.contains(outsider.op.index) || !reached.contains(outsider.op.index) || IsGivenByCallers(outsider)) continue;
        Evidence evidence;
        evidence.kind = DifferenceKind::NotMember;
        evidence.culprit = outsider.op;
        evidence.detail = outsider.is_root ? Detail::Root : Detail::Member;
        evidence.reached = RankSet::Of(rank);
        evidence.not_reached = Complement(scene, evidence.reached);
        // Where one axis is all that the code speaks of, its group may be the whole job.
        const bool is_lone_axis = std::popcount(nodes_.mentions.axes.bits) == 1;
        if (outsider.is_root && is_lone_axis) evidence.assumptions.Add(findings::Assumption::GroupUnknown);
        if (IsInHandler(outsider.op)) evidence.assumptions.Add(findings::Assumption::FailsOnOneRank);
        Report(scene, sequences, evidence, outsider.op);
      }
    }
  }
}

}  // namespace allranks::traces
