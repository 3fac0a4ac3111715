#include "runtime-verify/simulator/streams.h"

#include <algorithm>
#include <map>

#include "witness/matching.h"

namespace allranks::verify {
namespace {

using witness::Schedule;
using witness::ScheduledOp;

// The operations on one communicator, each behind the one before; those of a batch together.
Schedule OnStream(const Schedule& schedule, uint32_t comm) {
  Schedule alone = schedule;
  for (std::vector<ScheduledOp>& ops : alone.ops) {
    std::erase_if(ops, [&](const ScheduledOp& op) { return op.comm != comm || op.kind == witness::OpKind::Wait; });
    std::vector<ScheduledOp> ordered;
    for (size_t i = 0; i < ops.size(); ++i) {
      ordered.push_back(ops[i]);
      ordered.back().sync = ops[i].batch == 0;
      const bool ends = ops[i].batch != 0 && (i + 1 == ops.size() || ops[i + 1].batch != ops[i].batch);
      if (ends) ordered.push_back({.kind = witness::OpKind::Wait, .comm = comm});
    }
    ops = std::move(ordered);
  }
  return alone;
}

bool HasPairs(const Schedule& schedule, uint32_t comm) {
  return std::ranges::any_of(schedule.ops, [&](const std::vector<ScheduledOp>& ops) {
    return std::ranges::any_of(ops, [&](const ScheduledOp& op) { return op.comm == comm && IsPointToPoint(op.kind); });
  });
}

}  // namespace

bool HangsOnStream(const Schedule& schedule) {
  for (uint32_t comm = 0; comm < schedule.comms.size(); ++comm) {
    if (!HasPairs(schedule, comm)) continue;
    if (witness::MatchStrictly(OnStream(schedule, comm)).effect == witness::Effect::Deadlock) return true;
  }
  return false;
}

bool HangsAtFirstUse(const Schedule& schedule) {
  Schedule meetings = schedule;
  meetings.ops.clear();
  for (uint32_t rank = 0; rank < schedule.world; ++rank) {
    meetings.class_of[rank] = rank;
    std::vector<ScheduledOp>& own = meetings.ops.emplace_back();
    for (const ScheduledOp& op : schedule.OpsOf(rank)) {
      const bool is_used = std::ranges::any_of(own, [&](const ScheduledOp& other) { return other.comm == op.comm; });
      if (!is_used && op.kind != witness::OpKind::Wait) own.push_back({.kind = witness::OpKind::Barrier, .comm = op.comm});
    }
  }
  return witness::MatchStrictly(meetings).effect == witness::Effect::Deadlock;
}

Schedule WithPairCommunicators(Schedule schedule) {
  // Ranks of one class have different peers, so each gets a list of its own.
  std::vector<std::vector<ScheduledOp>> by_rank;
  for (uint32_t rank = 0; rank < schedule.world; ++rank) by_rank.push_back(schedule.OpsOf(rank));
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> pairs;
  for (uint32_t rank = 0; rank < schedule.world; ++rank) {
    for (ScheduledOp& op : by_rank[rank]) {
      // A batch goes over the communicator of its group.
      if (!IsPointToPoint(op.kind) || op.batch != 0 || schedule.MemberIndex(op.comm, rank) < 0) continue;
      const uint32_t peer = schedule.comms[op.comm][static_cast<size_t>(op.peer)];
      if (peer == rank) continue;
      const auto [first, second] = std::minmax(rank, peer);
      const auto [pair, is_new] = pairs.try_emplace({first, second}, static_cast<uint32_t>(schedule.comms.size()));
      if (is_new) schedule.comms.push_back({first, second});
      op.comm = pair->second;
      op.peer = peer > rank ? 1 : 0;
    }
  }
  if (pairs.empty()) return schedule;
  schedule.ops = std::move(by_rank);
  for (uint32_t rank = 0; rank < schedule.world; ++rank) schedule.class_of[rank] = rank;
  return schedule;
}

}  // namespace allranks::verify
