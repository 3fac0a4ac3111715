#include "analyzer/traces/point_to_point.h"

#include <algorithm>

namespace allranks::traces {
namespace {

bool IsSend(const Step& step) { return step.kind == StepKind::Send || step.kind == StepKind::StartSend; }
bool IsReceive(const Step& step) { return step.kind == StepKind::Recv || step.kind == StepKind::StartRecv; }

bool FitsTag(const Step& a, const Step& b) { return a.tag == b.tag || a.tag == kAnyTag || b.tag == kAnyTag; }

// Whether a send of rank `from` and a receive, or a probe, of rank `to` may be halves of one message.
bool AreHalves(const Step& send, uint32_t from, const Step& receive, uint32_t to) {
  return send.peer == to && (receive.peer == from || receive.peer == kAnyPeer) && FitsTag(send, receive) && send.group == receive.group;
}

class Run {
 public:
  Run(const std::vector<std::vector<Step>>& ranks, bool sends_return)
      : ranks_(ranks), sends_return_(sends_return), at_(ranks.size()), is_met_(ranks.size()) {
    for (size_t rank = 0; rank < ranks.size(); ++rank) is_met_[rank].resize(ranks[rank].size());
  }

  MessagesRun Result() {
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        while (!Done(rank) && Advance(rank)) moved = true;
      }
    }
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      run_.stuck.push_back(Done(rank) ? std::nullopt : std::optional(Stuck{at_[rank], WaitsFor(rank)}));
      for (size_t step = 0; step < at_[rank]; ++step) {
        const bool is_half = IsSend(ranks_[rank][step]) || IsReceive(ranks_[rank][step]);
        if (is_half && !is_met_[rank][step]) run_.alone.push_back({rank, step});
      }
    }
    return std::move(run_);
  }

 private:
  bool Done(uint32_t rank) const { return at_[rank] == ranks_[rank].size(); }
  const Step& Now(uint32_t rank) const { return ranks_[rank][at_[rank]]; }
  const Step& StepAt(StepOf place) const { return ranks_[place.rank][place.step]; }

  bool Advance(uint32_t rank) {
    const Step& step = Now(rank);
    const StepOf here{rank, at_[rank]};
    switch (step.kind) {
      case StepKind::StartSend:
        if (!Deliver(here)) under_way_.push_back(here);
        break;
      case StepKind::StartRecv:
        if (!Take(here)) posted_.push_back(here);
        break;
      case StepKind::Send:
        if (!SendNow(here)) return false;
        break;
      case StepKind::Recv:
        if (!Take(here)) return false;
        break;
      case StepKind::Wait:
        if (WaitsFor(rank) != at_[rank]) return false;
        break;
      case StepKind::Cancel:
        GiveUp(here);
        break;
      case StepKind::Probe:
        if (!IsThere(here)) return false;
        break;
      case StepKind::Leave:
        left_.push_back(here);
        break;
      case StepKind::Await:
        if (std::ranges::none_of(left_, [&](StepOf left) { return FitsTag(StepAt(left), step); })) return false;
        break;
      case StepKind::Collective:
        return Meet(step);
    }
    ++at_[rank];
    return true;
  }

  void GiveUp(StepOf cancel) {
    for (size_t step = 0; step < cancel.step; ++step) {
      if (ranks_[cancel.rank][step].handle == StepAt(cancel).handle) is_met_[cancel.rank][step] = true;
    }
  }

  void Match(StepOf send, StepOf receive) {
    is_met_[send.rank][send.step] = true;
    is_met_[receive.rank][receive.step] = true;
    const Step& taken = StepAt(receive);
    const bool is_sure = taken.peer != kAnyPeer && taken.tag != kAnyTag && StepAt(send).tag != kAnyTag;
    if (is_sure) run_.messages.emplace_back(send, receive);
  }

  bool Fit(StepOf send, StepOf receive) const { return AreHalves(StepAt(send), send.rank, StepAt(receive), receive.rank); }

  // To a receive that was begun before.
  bool Deliver(StepOf send) {
    const auto receive = std::ranges::find_if(posted_, [&](StepOf posted) { return Fit(send, posted); });
    if (receive == posted_.end()) return false;
    Match(send, *receive);
    posted_.erase(receive);
    return true;
  }

  bool Take(StepOf receive) {
    auto taken = under_way_.end();
    for (auto it = under_way_.begin(); it != under_way_.end(); ++it) {
      if (Fit(*it, receive) && (taken == under_way_.end() || it->rank < taken->rank)) taken = it;
    }
    if (taken == under_way_.end()) return false;
    Match(*taken, receive);
    under_way_.erase(taken);
    return true;
  }

  bool SendNow(StepOf send) {
    if (Deliver(send)) return true;
    if (sends_return_) {
      under_way_.push_back(send);
      return true;
    }
    if (StepAt(send).peer == kNoPeer) return false;
    const auto to = static_cast<uint32_t>(StepAt(send).peer);
    if (Done(to) || Now(to).kind != StepKind::Recv || !Fit(send, {to, at_[to]})) return false;
    Match(send, {to, at_[to]});
    ++at_[to];
    return true;
  }

  bool IsThere(StepOf probe) const {
    if (std::ranges::any_of(under_way_, [&](StepOf send) { return Fit(send, probe); })) return true;
    for (uint32_t from = 0; from < ranks_.size(); ++from) {
      if (!Done(from) && Now(from).kind == StepKind::Send && Fit({from, at_[from]}, probe)) return true;
    }
    return false;
  }

  // The first step that a rank waits for where it stands: that very one, unless it asks for the end of others.
  size_t WaitsFor(uint32_t rank) const {
    const Step& wait = Now(rank);
    if (wait.kind != StepKind::Wait || wait.handle == 0) return at_[rank];
    for (size_t step = 0; step < at_[rank]; ++step) {
      const Step& begun = ranks_[rank][step];
      if (begun.handle != wait.handle || is_met_[rank][step]) continue;
      if (begun.kind == StepKind::StartRecv || (begun.kind == StepKind::StartSend && !sends_return_)) return step;
    }
    return at_[rank];
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
  std::vector<std::vector<bool>> is_met_;
  std::vector<StepOf> under_way_;   // sent and not yet received, in order
  std::vector<StepOf> posted_;      // receives that were begun
  std::vector<StepOf> left_;        // in stores
  MessagesRun run_;
};

}  // namespace

MessagesRun RunMessages(const std::vector<std::vector<Step>>& ranks, bool sends_return) { return Run(ranks, sends_return).Result(); }

bool IsMetLater(const std::vector<std::vector<Step>>& ranks, const std::vector<std::optional<Stuck>>& stuck, uint32_t rank) {
  const Step& step = ranks[rank][stuck[rank]->of];
  for (uint32_t other = 0; other < ranks.size(); ++other) {
    if (other == rank || !stuck[other]) continue;
    for (size_t i = stuck[other]->at; i < ranks[other].size(); ++i) {
      const Step& later = ranks[other][i];
      if (step.kind == StepKind::Await && later.kind == StepKind::Leave && FitsTag(later, step)) return true;
      const bool meets = IsSend(step) ? IsReceive(later) && AreHalves(step, rank, later, other)
                                      : IsSend(later) && AreHalves(later, other, step, rank);
      if (meets) return true;
    }
  }
  return false;
}

}  // namespace allranks::traces
