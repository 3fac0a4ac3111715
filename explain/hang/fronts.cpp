#include "explain/hang/fronts.h"

#include <algorithm>
#include <set>
#include <span>

#include "explain/hang/groups.h"
#include "explain/hang/places.h"

namespace allranks::explain {
namespace {

// One operation of one rank, for sorting by turn.
struct Issued {
  uint64_t turn = 0;
  uint32_t rank = 0;
  const Operation* op = nullptr;
};

bool IsCollective(const Recording& recording, const Operation& op) {
  return !op.is_send && !op.is_recv && recording.names[op.kind] != "coalesced";
}

// Operations in which every member hands over the same number of elements.
bool NeedsEqualShapes(std::string_view kind) {
  return kind == "all_reduce" || kind == "broadcast" || kind == "reduce" || kind == "reduce_scatter";
}

Arrival ArrivalOf(const Recording& recording, uint32_t rank, const Operation& op) {
  const auto found = recording.ranks.find(rank);
  const StackIndex stack = op.stack != kNoStack ? op.stack : found != recording.ranks.end() ? found->second.stack : kNoStack;
  return {.rank = rank, .kind = std::string(recording.names[op.kind]), .shapes = std::string(recording.names[op.shapes]),
          .stack = stack, .state = op.state, .order = op.order, .time_ns = op.time_ns};
}

// The user's innermost frame of a stack, by which two ranks are at the same place. Kept: 512 ranks share few stacks.
class Sites {
 public:
  explicit Sites(const Recording& recording) : recording_(recording) {}
  bool Same(StackIndex a, StackIndex b) { return a == b || (a != kNoStack && b != kNoStack && Of(a) == Of(b)); }

 private:
  const Frame& Of(StackIndex stack) {
    const auto [found, is_new] = sites_.try_emplace(stack);
    if (!is_new) return found->second;
    const std::vector<Frame> frames = UserFrames(recording_, stack);
    if (!frames.empty()) found->second = frames.back();
    else if (!recording_.stacks[stack].empty()) found->second = recording_.stacks[stack].front();
    return found->second;
  }
  const Recording& recording_;
  std::map<StackIndex, Frame> sites_;
};

bool IsHeld(const Rank& record) {
  return std::ranges::any_of(record.operations, [](const Operation& op) { return op.state < OpState::Ended; });
}

// All that is known of one group.
class GroupView {
 public:
  GroupView(const Recording& recording, const Groups& groups, uint32_t group, std::vector<Issued> issued, const std::set<uint32_t>& others)
      : recording_(recording), groups_(groups), group_(group), issued_(std::move(issued)), sites_(recording) {
    std::ranges::stable_sort(issued_, [](const Issued& a, const Issued& b) { return std::pair(a.turn, a.rank) < std::pair(b.turn, b.rank); });
    std::set<uint32_t> members(recording.groups[group].ranks.begin(), recording.groups[group].ranks.end());
    is_told_ = !members.empty();
    if (!is_told_) members = others;
    for (const Issued& one : issued_) {
      members.insert(one.rank);
      last_turn_[one.rank] = std::max(last_turn_[one.rank], one.turn);
    }
    for (const auto& [rank, record] : recording.ranks) {
      if (const Progress* progress = groups.ProgressOf(rank, group)) {
        members.insert(rank);
        if (!record.has_operations) last_turn_[rank] = std::max(last_turn_[rank], static_cast<uint64_t>(std::max<int64_t>(progress->last_enqueued, 0)));
      } else if (record.has_operations && members.contains(rank)) {
        last_turn_.try_emplace(rank, 0);
      }
    }
    members_.assign(members.begin(), members.end());
    // A job has all ranks up to the last; the default group has them all, as far as anybody is heard of.
    const bool is_job = (groups.IsDefault(group) || groups.IsOnly()) && members_.size() > 1 && members_.back() + 1 == members_.size() && !recording.ranks.empty() &&
                        recording.ranks.rbegin()->first <= members_.back();
    members_known_ = is_told_ || is_job;
    for (const uint32_t rank : members_) {
      const auto last = last_turn_.find(rank);
      if (last != last_turn_.end()) least_last_ = std::min(least_last_, last->second);
    }
  }

  std::optional<Front> Find() {
    Front front;
    for (size_t begin = 0; begin < issued_.size();) {
      size_t end = begin;
      while (end < issued_.size() && issued_[end].turn == issued_[begin].turn) ++end;
      const std::span<const Issued> turn(issued_.data() + begin, end - begin);
      const bool mismatch = KindsDiffer(turn);
      if (mismatch || IsStuck(turn)) return Fill(turn, mismatch, front);
      Follow(turn, front);
      begin = end;
    }
    return std::nullopt;
  }

 private:
  bool KindsDiffer(std::span<const Issued> turn) const {
    return std::ranges::any_of(turn, [&](const Issued& one) { return one.op->kind != turn[0].op->kind; });
  }

  // Someone is in it, or it has an end that cannot be its completion: a member never came.
  bool IsStuck(std::span<const Issued> turn) const {
    return std::ranges::any_of(turn, [&](const Issued& one) {
      if (one.op->state == OpState::Completed) return false;
      if (one.op->state != OpState::Ended) return true;
      return least_last_ < one.turn;
    });
  }

  // A turn that went well: from here on all are together, or already apart.
  void Follow(std::span<const Issued> turn, Front& front) {
    bool same = turn[0].op->stack != kNoStack;
    for (const Issued& one : turn) same = same && sites_.Same(one.op->stack, turn[0].op->stack);
    size_t known = 0;
    for (const uint32_t rank : members_) known += last_turn_.contains(rank) ? 1 : 0;
    // A buffer that has forgotten the turn on some ranks says nothing about it.
    if (turn.size() < known) return;
    if (same) {
      front.last_common_turn = turn[0].turn;
      front.last_common_stack = turn[0].op->stack;
      front.first_different.clear();
    } else if (front.first_different.empty() && turn[0].op->stack != kNoStack) {
      for (const Issued& one : turn) front.first_different.push_back(ArrivalOf(recording_, one.rank, *one.op));
    }
  }

  Front Fill(std::span<const Issued> turn, bool mismatch, Front& front) {
    Stall& stall = front.stall;
    stall.group = group_;
    stall.turn = turn[0].turn;
    const Operation* first = nullptr;
    for (const Issued& one : turn) {
      const bool through = one.op->state == OpState::Completed && !mismatch;
      if (through) stall.through.push_back(one.rank);
      else stall.arrived.push_back(ArrivalOf(recording_, one.rank, *one.op));
      if (!through && first == nullptr) first = one.op;
    }
    if (first == nullptr) first = turn[0].op;
    stall.kind = recording_.names[first->kind];
    stall.shapes = recording_.names[first->shapes];
    stall.members_known = members_known_;
    for (const uint32_t rank : members_) AddMember(rank, turn, stall);
    std::ranges::sort(stall.arrived, {}, &Arrival::rank);
    front.is_mismatch = mismatch || SizesDiffer(stall);
    return std::move(front);
  }

  static bool SizesDiffer(const Stall& stall) {
    if (!NeedsEqualShapes(stall.kind)) return false;
    return std::ranges::any_of(stall.arrived, [&](const Arrival& one) {
      return one.shapes.size() < 150 && !one.shapes.empty() && one.shapes != stall.shapes;
    });
  }

  // Members of whom no operation of this turn is recorded.
  void AddMember(uint32_t rank, std::span<const Issued> turn, Stall& stall) const {
    if (std::ranges::binary_search(turn, rank, {}, &Issued::rank)) return;
    const auto last = last_turn_.find(rank);
    if (last != last_turn_.end()) {
      if (last->second < stall.turn) stall.absent.push_back(rank);
      else AddByNumber(rank, stall);
      return;
    }
    const auto record = recording_.ranks.find(rank);
    // Of one whose end is known, or that waits elsewhere, that is enough.
    const bool is_seen = record != recording_.ranks.end() && (record->second.ending || record->second.stack != kNoStack || IsHeld(record->second));
    (is_seen ? stall.absent : stall.unheard).push_back(rank);
  }

  // A watchdog says only how far a rank is.
  void AddByNumber(uint32_t rank, Stall& stall) const {
    const Rank& record = recording_.ranks.at(rank);
    const Progress* progress = groups_.ProgressOf(rank, group_);
    const bool done = progress != nullptr && progress->last_completed >= static_cast<int64_t>(stall.turn);
    if (done) {
      stall.through_unseen = true;
      return stall.through.push_back(rank);
    }
    stall.arrived.push_back({.rank = rank, .kind = stall.kind, .shapes = {}, .stack = record.stack, .state = OpState::Started, .order = 0, .time_ns = 0});
  }

  const Recording& recording_;
  const Groups& groups_;
  uint32_t group_;
  std::vector<Issued> issued_;
  Sites sites_;
  std::vector<uint32_t> members_;
  bool is_told_ = false;
  bool members_known_ = false;
  std::map<uint32_t, uint64_t> last_turn_;  // of ranks of whom that is known
  uint64_t least_last_ = ~uint64_t{0};
};

// Ranks that may be members where nothing says so: all, for the default group and where no other group was used. Of another
// group those that used it are known; but nobody waits alone, so one who does waits for ranks that wait elsewhere.
std::set<uint32_t> PossibleMembers(const Recording& recording, const Groups& groups, uint32_t group, const std::vector<Issued>& issued) {
  std::set<uint32_t> members;
  const bool is_default = groups.IsDefault(group);
  const bool is_assumed = std::ranges::all_of(issued, [](const Issued& one) { return one.op->group_is_assumed; });
  const bool alone = std::ranges::all_of(issued, [&](const Issued& one) { return one.rank == issued[0].rank; });
  const bool may_be_all = groups.IsOnly() || (is_default && !is_assumed);
  for (const auto& [rank, record] : recording.ranks) {
    if (may_be_all || (alone && !is_assumed && IsHeld(record))) members.insert(rank);
  }
  // Ranks are numbered without gaps: one that nothing is heard of is there all the same. More than this nobody runs.
  constexpr uint32_t kMostGaps = 1 << 17;
  if (!may_be_all || !is_default || members.empty() || *members.rbegin() >= kMostGaps) return members;
  for (uint32_t rank = 0; rank < *members.rbegin(); ++rank) members.insert(rank);
  return members;
}

uint64_t PairOf(uint32_t from, uint32_t to) { return (uint64_t{from} << 32) | to; }

// Sends and receives that are not through, of each pair of ranks.
struct Pending {
  std::vector<std::pair<uint32_t, const Operation*>> sends;  // by the sender
  std::vector<std::pair<uint32_t, const Operation*>> recvs;  // by the receiver
};

// Operations of a batch have no end of their own: that of the batch is theirs.
std::set<std::pair<uint32_t, uint64_t>> CompletedBatches(const Recording& recording, const Rank& record) {
  std::set<std::pair<uint32_t, uint64_t>> batches;
  for (const Operation& op : record.operations) {
    if (recording.names[op.kind] == "coalesced" && op.state >= OpState::Ended) batches.emplace(op.group, op.turn);
  }
  return batches;
}

Front FrontOf(const Recording& recording, const std::vector<std::pair<uint32_t, const Operation*>>& waiting, uint32_t absent) {
  Front front;
  const Operation& op = *waiting[0].second;
  front.stall = {.group = op.group, .turn = 0, .kind = std::string(recording.names[op.kind]), .shapes = std::string(recording.names[op.shapes]),
                 .arrived = {ArrivalOf(recording, waiting[0].first, op)}, .through = {}, .absent = {}, .unheard = {}, .point_to_point = true};
  const auto record = recording.ranks.find(absent);
  const bool heard = record != recording.ranks.end() && record->second.is_heard_of;
  (heard ? front.stall.absent : front.stall.unheard).push_back(absent);
  return front;
}

}  // namespace

std::vector<Front> FrontsOfGroups(const Recording& recording) {
  const Groups groups(recording);
  std::vector<std::vector<Issued>> by_group(recording.groups.size());
  for (const auto& [rank, record] : recording.ranks) {
    for (const Operation& op : record.operations) {
      if (IsCollective(recording, op)) by_group[groups.Of(rank, op)].push_back({op.turn, rank, &op});
    }
  }
  std::vector<Front> fronts;
  for (uint32_t group = 0; group < by_group.size(); ++group) {
    if (by_group[group].empty()) continue;
    const std::set<uint32_t> others = PossibleMembers(recording, groups, group, by_group[group]);
    if (std::optional<Front> front = GroupView(recording, groups, group, std::move(by_group[group]), others).Find()) fronts.push_back(std::move(*front));
  }
  return fronts;
}

std::vector<Front> FrontsOfPairs(const Recording& recording) {
  std::map<uint64_t, Pending> pairs;
  for (const auto& [rank, record] : recording.ranks) {
    const auto batches = CompletedBatches(recording, record);
    for (const Operation& op : record.operations) {
      if (op.peer < 0 || op.state >= OpState::Ended || batches.contains({op.group, op.turn})) continue;
      const auto peer = static_cast<uint32_t>(op.peer);
      if (op.is_send) pairs[PairOf(rank, peer)].sends.emplace_back(rank, &op);
      else pairs[PairOf(peer, rank)].recvs.emplace_back(rank, &op);
    }
  }
  std::vector<Front> fronts;
  for (const auto& [pair, pending] : pairs) {
    const auto from = static_cast<uint32_t>(pair >> 32);
    const auto to = static_cast<uint32_t>(pair);
    if (pending.sends.size() > pending.recvs.size()) fronts.push_back(FrontOf(recording, pending.sends, to));
    if (pending.recvs.size() > pending.sends.size()) fronts.push_back(FrontOf(recording, pending.recvs, from));
    if (!pending.sends.empty() && pending.sends.size() == pending.recvs.size()) {
      Front front = FrontOf(recording, pending.sends, to);
      front.stall.absent.clear();
      front.stall.unheard.clear();
      front.stall.arrived.push_back(ArrivalOf(recording, to, *pending.recvs[0].second));
      fronts.push_back(std::move(front));
    }
  }
  return fronts;
}

namespace {

Arrival ByStack(const Recording& recording, uint32_t rank, std::string kind, std::string shapes) {
  const auto record = recording.ranks.find(rank);
  return {.rank = rank, .kind = std::move(kind), .shapes = std::move(shapes),
          .stack = record == recording.ranks.end() ? kNoStack : record->second.stack, .state = OpState::Started, .order = 0, .time_ns = 0};
}

Front OfMismatch(const Recording& recording, const Mismatch& mismatch) {
  Front front;
  front.is_mismatch = true;
  front.stall.kind = mismatch.sides[0].kind;
  front.stall.shapes = mismatch.sides[0].shapes;
  for (const Mismatch::Side& side : mismatch.sides) {
    if (std::ranges::find(front.stall.arrived, side.rank, &Arrival::rank) == front.stall.arrived.end()) {
      front.stall.arrived.push_back(ByStack(recording, side.rank, side.kind, side.shapes));
    }
  }
  std::ranges::sort(front.stall.arrived, {}, &Arrival::rank);
  return front;
}

Front OfNotArrived(const Recording& recording, const NotArrived& absent) {
  Front front;
  front.stall.group = absent.group;
  front.stall.kind = "barrier";
  front.stall.absent = absent.ranks;
  const std::set<uint32_t> missing(absent.ranks.begin(), absent.ranks.end());
  for (const auto& [rank, record] : recording.ranks) {
    if (!missing.contains(rank) && (record.stack != kNoStack || rank == 0)) {
      front.stall.arrived.push_back(ByStack(recording, rank, "barrier", ""));
    }
  }
  if (front.stall.arrived.empty()) front.stall.arrived.push_back(ByStack(recording, 0, "barrier", ""));
  return front;
}

std::optional<Front> OfCounts(const Recording& recording, const LaunchCounts& counts) {
  uint64_t most = 0;
  for (const auto& [rank, count] : counts.by_rank) most = std::max(most, count);
  Front front;
  front.stall.kind = counts.kind;
  front.stall.turn = most;
  for (uint32_t group = 0; group < recording.groups.size(); ++group) {
    if (recording.groups[group].name == counts.group) front.stall.group = group;
  }
  for (const auto& [rank, count] : counts.by_rank) {
    if (count < most) front.stall.absent.push_back(rank);
    else front.stall.arrived.push_back(ByStack(recording, rank, counts.kind, ""));
  }
  return front.stall.absent.empty() ? std::nullopt : std::optional(std::move(front));
}

// Stacks alone: some ranks are in a call of torch.distributed, the others are not.
std::optional<Front> OfStacks(const Recording& recording) {
  Front front;
  for (const auto& [rank, record] : recording.ranks) {
    if (record.stack == kNoStack && !record.ending) continue;
    const std::string kind = record.ending ? "" : OperationOf(recording, record.stack);
    if (kind.empty()) front.stall.absent.push_back(rank);
    else front.stall.arrived.push_back(ByStack(recording, rank, kind, ""));
  }
  if (front.stall.arrived.empty()) return std::nullopt;
  front.stall.kind = front.stall.arrived[0].kind;
  front.is_mismatch = std::ranges::any_of(front.stall.arrived, [&](const Arrival& one) { return one.kind != front.stall.kind; });
  front.stall.point_to_point = front.stall.kind == "send" || front.stall.kind == "recv";
  // The stack of one rank says nothing of how many there are.
  front.stall.members_known = front.stall.arrived.size() + front.stall.absent.size() > 1;
  return front;
}

}  // namespace

std::vector<Front> FrontsOfChecks(const Recording& recording) {
  std::vector<Front> fronts;
  for (const Mismatch& mismatch : recording.mismatches) {
    fronts.push_back(OfMismatch(recording, mismatch));
    break;  // each rank prints the same one
  }
  if (!fronts.empty()) return fronts;
  for (const NotArrived& absent : recording.not_arrived) {
    fronts.push_back(OfNotArrived(recording, absent));
    break;
  }
  if (!fronts.empty()) return fronts;
  for (const LaunchCounts& counts : recording.counts) {
    if (std::optional<Front> front = OfCounts(recording, counts)) fronts.push_back(std::move(*front));
  }
  if (!fronts.empty()) return fronts;
  if (std::optional<Front> front = OfStacks(recording)) fronts.push_back(std::move(*front));
  return fronts;
}

}  // namespace allranks::explain
