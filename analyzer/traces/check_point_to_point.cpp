// Point-to-point operations of a function: ranks that wait for each other in a circle, or for a partner that never comes.
#include <algorithm>

#include "analyzer/traces/function_check.h"
#include "analyzer/traces/point_to_point.h"

namespace allranks::traces {
namespace {

using knowledge::OpClass;

constexpr size_t kMostSteps = 400;

bool IsPointToPoint(OpClass op_class) { return op_class == OpClass::Send || op_class == OpClass::Recv; }

// What one rank does, step by step; none where that is not known.
class StepReader {
 public:
  StepReader(const State& state, Scene& scene, const SequenceStore& sequences, uint32_t rank)
      : state_(state), scene_(scene), sequences_(sequences), rank_(rank) {}

  std::optional<std::vector<Step>> Read(SeqId list) {
    if (!Append(list, 0) || steps_.size() > kMostSteps) return std::nullopt;
    return std::move(steps_);
  }

 private:
  bool Append(SeqId list, int depth) {
    constexpr int kDeepest = 50;
    if (depth > kDeepest || list == kRaised) return false;
    for (SeqId at = list; at != kNothing && steps_.size() <= kMostSteps; at = sequences_[at].next) {
      const Item& item = sequences_[at];
      if (item.next == kRaised) return false;
      switch (item.kind) {
        case ItemKind::Op:
          if (!AppendOp(at, item)) return false;
          break;
        case ItemKind::Sub:
        case ItemKind::Unless:
        case ItemKind::Alike:
          if (!Append(item.a, depth + 1)) return false;
          break;
        case ItemKind::Loop:
          // Rounds are alike: after one of them all is as it was before.
          if (!Append(item.a, depth + 1)) return false;
          break;
        default:
          if (item.kind != ItemKind::Choice || HasPointToPoint(item.a) || HasPointToPoint(item.b)) return false;
          break;
      }
    }
    return true;
  }

  bool HasPointToPoint(SeqId list) const {
    std::vector<SeqId> ops;
    sequences_.Flatten(list, kMostSteps, &ops);
    return std::ranges::any_of(ops, [&](SeqId op) {
      return IsPointToPoint(state_.traces.entry(sequences_[op].origin).operation.op_class);
    });
  }

  bool AppendOp(SeqId id, const Item& item) {
    const knowledge::Operation& known = state_.traces.entry(item.origin).operation;
    const Operation& operation = state_.traces.operation(item.origin);
    const GroupInfo& group = scene_.evaluator().group(item.group);
    if (known.op_class == OpClass::Batch) {
      batches_ += known.opens_batch ? 1 : -1;
      return batches_ >= 0;
    }
    Step step{.kind = StepKind::Collective, .members = group.members[rank_], .group = item.group, .item = id.index};
    if (!IsPointToPoint(known.op_class)) {
      if (!known.always_async) steps_.push_back(step);
      return true;
    }
    const Outcome peer = operation.peer ? scene_.evaluator().Evaluate(operation.peer, rank_) : Outcome{};
    const bool is_send = known.op_class == OpClass::Send;
    if (peer.kind != OutcomeKind::Number || known.async_param) return false;
    // MPI_PROC_NULL: nothing is sent.
    if (peer.number < kAnyPeer) return true;
    if (peer.number == kAnyPeer && is_send) return false;
    const bool waits = !known.always_async && batches_ == 0;
    step.kind = is_send ? (waits ? StepKind::Send : StepKind::StartSend) : (waits ? StepKind::Recv : StepKind::StartRecv);
    step.peer = peer.number == kAnyPeer ? kAnyPeer : WorldRank(group.members[rank_], peer.number);
    if (step.peer < kAnyPeer || step.peer >= scene_.world().size()) return false;
    steps_.push_back(step);
    return true;
  }

  // The rank of the world with this number in a group; under kAnyPeer: there is none.
  static int64_t WorldRank(RankSet members, int64_t number) {
    for (uint32_t rank = 0; rank < kMostRanks; ++rank) {
      if (members.has(rank) && number-- == 0) return rank;
    }
    return kAnyPeer - 1;
  }

  const State& state_;
  Scene& scene_;
  const SequenceStore& sequences_;
  uint32_t rank_;
  int batches_ = 0;
  std::vector<Step> steps_;
};

}  // namespace

void FunctionCheck::CheckPointToPoint() {
  bool sends = false;
  bool receives = false;
  for (const TraceId op : nodes_.ops) {
    const OpClass op_class = traces_.entry(op).operation.op_class;
    if ((traces_[op].flags & kSettled) != 0 && IsPointToPoint(op_class)) return;
    sends = sends || op_class == OpClass::Send;
    receives = receives || op_class == OpClass::Recv;
  }
  if (!sends || !receives) return;
  for (const World& world : WorldsFor(nodes_.mentions)) {
    // Partners that are named are there.
    if (static_cast<int64_t>(world.size()) <= nodes_.mentions.largest) continue;
    Scene scene(state_, world, {});
    Prepare(scene);
    SequenceStore sequences;
    std::vector<std::vector<Step>> ranks;
    for (uint32_t rank = 0; rank < world.size(); ++rank) {
      const SeqId list = ProjectFor(scene, sequences, rank, {.with_p2p = true});
      std::optional<std::vector<Step>> steps = StepReader(state_, scene, sequences, rank).Read(list);
      if (!steps) return;
      ranks.push_back(std::move(*steps));
    }
    // Each of two neighbours is both: in a ring of two the circle is the same.
    for (const bool sends_return : {true, false}) {
      if (ReportStuck(scene, sequences, ranks, sends_return)) return;
    }
  }
}

bool FunctionCheck::ReportStuck(Scene& scene, SequenceStore& sequences, const std::vector<std::vector<Step>>& ranks,
                                bool sends_return) {
  const auto stuck = StuckSteps(ranks, sends_return);
  Evidence evidence;
  evidence.kind = DifferenceKind::PointToPoint;
  // What a caller does before or behind may be the missing half.
  const bool is_whole = state_.program.text(state_.program.function(func_).name) == "main" ||
                        state_.program.funcs[func_].function == ir::kTopLevel;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    if (!stuck[rank]) continue;
    const Step& step = ranks[rank][*stuck[rank]];
    const TraceId op = sequences[SeqId{step.item}].origin;
    const bool waits_for_peer = step.kind != StepKind::Collective;
    if (waits_for_peer && !evidence.culprit) {
      const bool is_order = IsMetLater(ranks, stuck, rank);
      if (!is_order && !is_whole) return false;
      evidence.culprit = op;
      evidence.reached = RankSet::Of(rank);
      // NCCL and its like never buffer.
      const bool may_buffer = step.kind == StepKind::Send && traces_.entry(op).operation.may_buffer;
      evidence.detail = !is_order ? Detail::Unmatched : !sends_return && may_buffer ? Detail::Buffered : Detail::Order;
    } else if (!evidence.victim || (evidence.culprit && traces_[evidence.victim].site == traces_[evidence.culprit].site)) {
      evidence.victim = op;
      evidence.not_reached = RankSet::Of(rank);
    }
  }
  if (!evidence.culprit || settled_.contains(evidence.culprit.index)) return false;
  Report(scene, sequences, evidence, evidence.culprit);
  return true;
}

}  // namespace allranks::traces
