#include "witness/matching.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "witness/cycle.h"

namespace allranks::witness {
namespace {

// The k-th collective of a communicator, while its members come one by one.
struct Gathering {
  std::vector<RankOp> arrived;
  bool pairs = true;
  bool agrees = true;
};

struct Mailbox {
  std::vector<RankOp> sends, recvs;
  size_t matched = 0;
};

class Matcher {
 public:
  explicit Matcher(const Schedule& schedule)
      : schedule_(schedule), ranks_(schedule.world), comms_(schedule.comms.size()) {
    for (size_t c = 0; c < comms_.size(); ++c) {
      comms_[c].is_member.resize(schedule.world);
      comms_[c].next.resize(schedule.world);
      for (const uint32_t rank : schedule.comms[c]) comms_[c].is_member[rank] = true;
    }
    for (Rank& rank : ranks_) rank.pending.resize(comms_.size());
  }

  Outcome Run() {
    for (uint32_t rank = 0; rank < schedule_.world; ++rank) ready_.push_back(rank);
    while (!ready_.empty()) {
      const uint32_t rank = ready_.back();
      ready_.pop_back();
      Advance(rank);
    }
    CollectStuck();
    std::sort(out_.wrong.begin(), out_.wrong.end(), [](const RankOp& a, const RankOp& b) {
      return std::tie(a.rank, a.op) < std::tie(b.rank, b.op);
    });
    out_.cycle = FindCycle(out_.stuck, schedule_.world);
    out_.effect = !out_.stuck.empty()     ? Effect::Deadlock
                  : !out_.refused.empty() ? Effect::Error
                  : !out_.wrong.empty()   ? Effect::Corruption
                                          : Effect::Clean;
    return std::move(out_);
  }

 private:
  struct Rank {
    uint32_t next = 0;
    bool blocked = false;
    bool failed = false;
    std::vector<uint32_t> pending;  // by communicator: issued and not waited for
  };
  struct Comm {
    std::vector<Gathering> gatherings;
    std::vector<uint32_t> next;  // by rank
    std::vector<bool> is_member;
    // By the pair of sender and receiver, as ranks of the world.
    std::map<std::pair<uint32_t, uint32_t>, Mailbox> mail;
  };

  const ScheduledOp& OpOf(const RankOp& at) const { return schedule_.OpsOf(at.rank)[at.op]; }

  void Advance(uint32_t rank) {
    Rank& state = ranks_[rank];
    const std::vector<ScheduledOp>& ops = schedule_.OpsOf(rank);
    while (!state.blocked && !state.failed && state.next < ops.size()) {
      const RankOp at{rank, state.next};
      const ScheduledOp& op = ops[at.op];
      if (!comms_[op.comm].is_member[rank] || IsRefused(op)) {
        out_.refused.push_back(at);
        state.failed = true;
      } else if (op.kind == OpKind::Wait) {
        state.blocked = state.pending[op.comm] > 0;
        if (!state.blocked) ++state.next;
      } else {
        state.blocked = op.sync;
        if (!op.sync) {
          ++state.pending[op.comm];
          ++state.next;
        }
        Issue(at, op);
      }
    }
  }

  void Issue(const RankOp& at, const ScheduledOp& op) {
    Comm& comm = comms_[op.comm];
    if (IsPointToPoint(op.kind)) return Post(at, op, comm);
    const uint32_t turn = comm.next[at.rank]++;
    if (turn == comm.gatherings.size()) comm.gatherings.emplace_back();
    Gathering& gathering = comm.gatherings[turn];
    if (!gathering.arrived.empty()) {
      const ScheduledOp& first = OpOf(gathering.arrived[0]);
      gathering.pairs = gathering.pairs && Pair(first, op);
      gathering.agrees = gathering.agrees && Agree(first, op);
    }
    gathering.arrived.push_back(at);
    if (gathering.arrived.size() < schedule_.comms[op.comm].size() || !gathering.pairs) return;
    if (!gathering.agrees)
      out_.wrong.insert(out_.wrong.end(), gathering.arrived.begin(), gathering.arrived.end());
    for (const RankOp& done : gathering.arrived) Finish(done);
  }

  void Post(const RankOp& at, const ScheduledOp& op, Comm& comm) {
    const uint32_t peer = schedule_.comms[op.comm][static_cast<size_t>(op.peer)];
    const bool sends = op.kind == OpKind::Send;
    Mailbox& box = comm.mail[sends ? std::pair{at.rank, peer} : std::pair{peer, at.rank}];
    (sends ? box.sends : box.recvs).push_back(at);
    while (box.matched < std::min(box.sends.size(), box.recvs.size())) {
      const RankOp send = box.sends[box.matched], recv = box.recvs[box.matched];
      ++box.matched;
      if (OpOf(send).count != OpOf(recv).count || OpOf(send).dtype != OpOf(recv).dtype)
        out_.wrong.push_back(recv);
      Finish(send);
      Finish(recv);
    }
  }

  void Finish(const RankOp& at) {
    Rank& state = ranks_[at.rank];
    const ScheduledOp& op = OpOf(at);
    if (op.sync) {
      state.blocked = false;
      ++state.next;
    } else {
      --state.pending[op.comm];
      const std::vector<ScheduledOp>& ops = schedule_.OpsOf(at.rank);
      // Blocked in a wait: it looks again.
      if (state.next < ops.size() && ops[state.next].kind == OpKind::Wait) state.blocked = false;
    }
    ready_.push_back(at.rank);
  }

  void CollectStuck() {
    std::vector<StuckOp> all;
    for (size_t c = 0; c < comms_.size(); ++c) {
      for (const Gathering& gathering : comms_[c].gatherings)
        CollectFrom(gathering, schedule_.comms[c], &all);
      for (const auto& [pair, box] : comms_[c].mail) {
        for (size_t i = box.matched; i < box.sends.size(); ++i) {
          all.push_back({box.sends[i].rank, box.sends[i].op, {pair.second}});
        }
        for (size_t i = box.matched; i < box.recvs.size(); ++i) {
          all.push_back({box.recvs[i].rank, box.recvs[i].op, {pair.first}});
        }
      }
    }
    std::sort(all.begin(), all.end(), [](const StuckOp& a, const StuckOp& b) {
      return std::tie(a.rank, a.op) < std::tie(b.rank, b.op);
    });
    for (StuckOp& one : all) {
      if (out_.stuck.empty() || out_.stuck.back().rank != one.rank) out_.stuck.push_back(std::move(one));
    }
  }

  // Nothing, if it completed.
  void CollectFrom(const Gathering& gathering, const std::vector<uint32_t>& members,
                   std::vector<StuckOp>* all) const {
    if (gathering.arrived.size() == members.size() && gathering.pairs) return;
    std::vector<uint32_t> absent;
    std::vector<bool> is_there(schedule_.world);
    for (const RankOp& at : gathering.arrived) is_there[at.rank] = true;
    std::copy_if(members.begin(), members.end(), std::back_inserter(absent),
                 [&](uint32_t r) { return !is_there[r]; });
    for (const RankOp& at : gathering.arrived) {
      StuckOp stuck{at.rank, at.op, absent};
      for (const RankOp& other : gathering.arrived) {
        if (!gathering.pairs && !Pair(OpOf(at), OpOf(other))) stuck.waits_for.push_back(other.rank);
      }
      std::sort(stuck.waits_for.begin(), stuck.waits_for.end());
      all->push_back(std::move(stuck));
    }
  }

  const Schedule& schedule_;
  std::vector<Rank> ranks_;
  std::vector<Comm> comms_;
  std::vector<uint32_t> ready_;
  Outcome out_;
};

}  // namespace

Outcome MatchStrictly(const Schedule& schedule) { return Matcher(schedule).Run(); }

}  // namespace allranks::witness
