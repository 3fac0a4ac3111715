// Operations that are wrong by themselves: called by a rank that is not in the group, with a root outside it, with
// shapes that differ.
#include <bit>

#include "analyzer/traces/counts.h"
#include "analyzer/traces/function_check.h"

namespace allranks::traces {

void FunctionCheck::CheckShapes() {
  if (!nodes_.ops_vary) return;
  for (const TraceId op : nodes_.ops) {
    const Trace& trace = traces_[op];
    if ((trace.flags & (kVarying | kSettled)) != kVarying || !traces_.IsRagged(op)) continue;
    if (settled_.contains(op.index) || reported_culprits_.contains(op.index)) continue;
    Scene scene(state_, WorldsFor(nodes_.mentions)[0], {});
    SequenceStore sequences;
    Evidence evidence;
    evidence.kind = DifferenceKind::Shape;
    evidence.culprit = op;
    evidence.own = true;
    evidence.detail = "element count";
    Report(scene, sequences, evidence, op);
  }
}

// Where a count follows from the rank by a formula, comparing ranks has said all.
void FunctionCheck::CheckCounts() {
  if (!nodes_.ops_vary) return;
  for (const TraceId op : nodes_.ops) {
    if ((traces_[op].flags & (kVarying | kSettled)) != kVarying || settled_.contains(op.index)) continue;
    if (reported_culprits_.contains(op.index)) continue;
    const Operation& operation = traces_.operation(op);
    const bool has_one_type = !operation.dtype || state_.values.axes(operation.dtype).empty();
    if (!operation.count || state_.values.axes(operation.count).empty() || !has_one_type) continue;
    const World world = WorldsFor(nodes_.mentions)[0];
    Scene scene(state_, world, {});
    const GroupInfo& group = scene.evaluator().group(scene.evaluator().Group(operation.group, 0));
    // Of a part of the ranks, those of one part may well agree.
    if (group.members[0] != RankSet::All(world.size()) && !group.is_guess) continue;
    const knowledge::Axes axes = OwnCountAxes(state_.values, state_.knowledge, world, operation.count);
    if (axes.empty()) continue;
    SequenceStore sequences;
    Evidence evidence;
    evidence.kind = DifferenceKind::Shape;
    evidence.culprit = op;
    evidence.own = true;
    evidence.detail = "element count";
    evidence.axes = axes;
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
    evidence.detail = "other type";
    Report(scene, sequences, evidence, op);
  }
}

void FunctionCheck::CheckMembers() {
  // Who calls an inner function, the function around it says: it has the group as well.
  if (!nodes_.ops_vary || state_.program.funcs[func_].parent) return;
  for (const World& world : WorldsFor(nodes_.mentions)) {
    Scene scene(state_, world, {});
    Prepare(scene);
    ClassPasses passes(scene);
    for (uint32_t rank = 0; rank < world.size(); ++rank) {
      if (!passes.Needs(rank, settled_.size())) continue;
      SequenceStore sequences;
      Projector projector(state_, scene, sequences, {.rank = rank}, settled_);
      projector.Run(root_);
      for (const Outsider& outsider : projector.outsiders()) {
        if (full() || settled_.contains(outsider.op.index)) continue;
        Evidence evidence;
        evidence.kind = DifferenceKind::NotMember;
        evidence.culprit = outsider.op;
        evidence.detail = outsider.is_root ? "root" : "member";
        evidence.reached = RankSet::Of(rank);
        evidence.not_reached = Complement(scene, evidence.reached);
        // Where one axis is all that the code speaks of, its group may be the whole job.
        evidence.is_guess = outsider.is_root && std::popcount(nodes_.mentions.axes.bits) == 1;
        Report(scene, sequences, evidence, outsider.op);
      }
    }
  }
}

}  // namespace allranks::traces
