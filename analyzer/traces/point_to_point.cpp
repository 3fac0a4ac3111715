#include "analyzer/traces/point_to_point.h"

#include <algorithm>
#include <array>

namespace allranks::traces {
namespace {

class Run {
 public:
  Run(const std::vector<std::vector<Step>>& ranks, bool sends_return)
      : ranks_(ranks), sends_return_(sends_return), at_(ranks.size()) {}

  std::vector<std::optional<size_t>> Stuck() {
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        while (!Done(rank) && Advance(rank)) moved = true;
      }
    }
    std::vector<std::optional<size_t>> stuck(ranks_.size());
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      if (!Done(rank)) stuck[rank] = at_[rank];
    }
    return stuck;
  }

 private:
  // Receives from whoever sends stand in a row of their own.
  static constexpr uint32_t kAnybody = kMostRanks;
  // Messages under way, and receives that wait, by sender and receiver.
  using Table = std::array<std::array<int, kMostRanks>, kMostRanks + 1>;

  bool Done(uint32_t rank) const { return at_[rank] == ranks_[rank].size(); }
  const Step& Now(uint32_t rank) const { return ranks_[rank][at_[rank]]; }

  bool Advance(uint32_t rank) {
    const Step& step = Now(rank);
    switch (step.kind) {
      case StepKind::StartSend:
        Deliver(rank, step.peer);
        break;
      case StepKind::StartRecv:
        if (!Take(rank, step.peer)) ++waiting_[Sender(step.peer)][rank];
        break;
      case StepKind::Send:
        if (!SendNow(rank, static_cast<uint32_t>(step.peer))) return false;
        break;
      case StepKind::Recv:
        if (!Take(rank, step.peer)) return false;
        break;
      case StepKind::Collective:
        return Meet(step);
    }
    ++at_[rank];
    return true;
  }

  static uint32_t Sender(int64_t peer) { return peer == kAnyPeer ? kAnybody : static_cast<uint32_t>(peer); }

  void Deliver(uint32_t from, int64_t to) {
    const auto receiver = static_cast<uint32_t>(to);
    for (const uint32_t sender : {from, kAnybody}) {
      if (waiting_[sender][receiver] == 0) continue;
      --waiting_[sender][receiver];
      return;
    }
    ++under_way_[from][receiver];
  }

  bool Take(uint32_t rank, int64_t peer) {
    for (uint32_t from = 0; from < ranks_.size(); ++from) {
      if ((peer != kAnyPeer && peer != from) || under_way_[from][rank] == 0) continue;
      --under_way_[from][rank];
      return true;
    }
    return false;
  }

  bool SendNow(uint32_t rank, uint32_t to) {
    if (sends_return_) {
      Deliver(rank, to);
      return true;
    }
    for (const uint32_t sender : {rank, kAnybody}) {
      if (waiting_[sender][to] == 0) continue;
      --waiting_[sender][to];
      return true;
    }
    if (Done(to) || Now(to).kind != StepKind::Recv) return false;
    if (Now(to).peer != rank && Now(to).peer != kAnyPeer) return false;
    ++at_[to];
    return true;
  }

  bool Meet(const Step& step) {
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      if (!step.members.has(rank)) continue;
      if (Done(rank) || Now(rank).kind != StepKind::Collective || Now(rank).group != step.group) return false;
    }
    const RankSet members = step.members;
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      if (members.has(rank)) ++at_[rank];
    }
    return true;
  }

  const std::vector<std::vector<Step>>& ranks_;
  bool sends_return_;
  std::vector<size_t> at_;
  Table under_way_{};
  Table waiting_{};
};

}  // namespace

std::vector<std::optional<size_t>> StuckSteps(const std::vector<std::vector<Step>>& ranks, bool sends_return) {
  return Run(ranks, sends_return).Stuck();
}

bool IsMetLater(const std::vector<std::vector<Step>>& ranks, const std::vector<std::optional<size_t>>& stuck,
                uint32_t rank) {
  const Step& step = ranks[rank][*stuck[rank]];
  const bool is_send = step.kind == StepKind::Send;
  for (uint32_t other = 0; other < ranks.size(); ++other) {
    if (other == rank || !stuck[other] || (step.peer != kAnyPeer && step.peer != other)) continue;
    for (size_t i = *stuck[other]; i < ranks[other].size(); ++i) {
      const Step& later = ranks[other][i];
      const bool fits = is_send ? later.kind == StepKind::Recv || later.kind == StepKind::StartRecv
                                : later.kind == StepKind::Send || later.kind == StepKind::StartSend;
      if (fits && (later.peer == rank || later.peer == kAnyPeer)) return true;
    }
  }
  return false;
}

}  // namespace allranks::traces
