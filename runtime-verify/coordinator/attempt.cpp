#include "runtime-verify/coordinator/attempt.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "runtime-verify/coordinator/ras.h"
#include "witness/cycle.h"

namespace allranks::verify {
namespace {

using witness::OpKind;
using witness::Schedule;
using witness::ScheduledOp;

constexpr milliseconds kTick{50};
// Fences get tags that no schedule reaches.
constexpr uint32_t kFenceTag = 1u << 20;
constexpr milliseconds kReleaseLimit{2000};
constexpr milliseconds kMonitorLimit{3000};

milliseconds Since(Clock::time_point start) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - start);
}

class Attempt {
 public:
  Attempt(const Schedule& schedule, const AttemptOptions& options, Launcher& launcher,
          InterruptGuard& interrupt, std::vector<RankLink> links)
      : schedule_(schedule), options_(options), launcher_(launcher), fleet_(std::move(links), interrupt) {
    log_.on_streams = options.on_streams;
    log_.ranks.resize(schedule.world);
    for (uint32_t rank = 0; rank < schedule.world; ++rank) {
      log_.ranks[rank].ops.resize(schedule.OpsOf(rank).size());
      turns_.push_back(TurnsOf(schedule, rank));
    }
  }

  AttemptLog Run() {
    begin_ = Clock::now();
    if (Connect()) {
      SendSchedule();
      bool is_over = Watch();
      if (is_over && options_.fence && AllIdle()) {
        SendFence();
        is_over = Watch();
      }
      if (log_.end == AttemptLog::End::Quiet && !launcher_.Monitor().empty()) {
        log_.ras = AskRas(launcher_.Monitor(), kMonitorLimit);
      }
      if (log_.end == AttemptLog::End::Quiet && options_.release) Release();
    }
    log_.reaped = fleet_.Stop();
    log_.reap_time = fleet_.reap_time();
    log_.duration = Since(begin_);
    return std::move(log_);
  }

 private:
  bool Connect() {
    for (uint32_t rank = 0; rank < schedule_.world; ++rank) {
      for (const std::vector<uint32_t>& ranks : schedule_.comms) {
        fleet_.Send(rank, {.kind = Command::Kind::Comm, .ranks = ranks});
      }
      Command init{.kind = Command::Kind::Init, .setup = launcher_.SetupOf(rank)};
      init.setup.at_first_use = options_.at_first_use;
      fleet_.Send(rank, init);
    }
    const Clock::time_point start = Clock::now();
    for (size_t ready = 0; ready < schedule_.world;) {
      if (fleet_.WasInterrupted()) return Stop(AttemptLog::End::Interrupted, "interrupted");
      if (Since(start) > options_.limits.connect) {
        return Stop(AttemptLog::End::NoConnect,
                    std::to_string(schedule_.world - ready) + " ranks did not connect within " +
                        std::to_string(options_.limits.connect.count() / 1000) + " s");
      }
      for (const RankEvent& event : fleet_.Wait(kTick)) {
        const std::string who = "rank " + std::to_string(event.rank) + ": ";
        if (event.is_dead) return Stop(AttemptLog::End::NoConnect, who + fleet_.EndOf(event.rank));
        if (event.event.kind == Event::Kind::Failed) {
          return Stop(AttemptLog::End::NoConnect, who + event.event.text);
        }
        if (event.event.kind != Event::Kind::Ready) continue;
        ++ready;
        log_.description = event.event.text;
        if (!event.event.devices.empty()) log_.devices = event.event.devices;
      }
    }
    log_.connect_time = Since(start);
    return true;
  }

  bool Stop(AttemptLog::End end, std::string reason) {
    log_.end = end;
    log_.reason = std::move(reason);
    return false;
  }

  void SendSchedule() {
    for (uint32_t rank = 0; rank < schedule_.world; ++rank) {
      const std::vector<ScheduledOp>& ops = schedule_.OpsOf(rank);
      for (size_t i = 0; i < ops.size(); ++i) {
        fleet_.Send(rank, {.kind = Command::Kind::Op, .op = ops[i], .tag = turns_[rank][i]});
      }
    }
    start_ = Clock::now();
    for (uint32_t rank = 0; rank < schedule_.world; ++rank) {
      fleet_.Send(rank, {.kind = Command::Kind::Run,
                         .first = 0,
                         .count = static_cast<uint32_t>(schedule_.OpsOf(rank).size())});
    }
  }

  void SendFence() {
    log_.has_fence = true;
    for (uint32_t rank = 0; rank < schedule_.world; ++rank) {
      RankLog& own = log_.ranks[rank];
      const auto first = static_cast<uint32_t>(own.ops.size());
      for (uint32_t c = 0; c < schedule_.comms.size(); ++c) {
        if (schedule_.MemberIndex(c, rank) < 0) continue;
        for (uint32_t turn = 0; turn < 2; ++turn) {
          fleet_.Send(rank,
                      {.kind = Command::Kind::Op, .op = FenceOp(schedule_, c), .tag = kFenceTag + turn});
          own.ops.emplace_back();
        }
      }
      own.is_idle = false;
      fleet_.Send(rank, {.kind = Command::Kind::Run,
                         .first = first,
                         .count = static_cast<uint32_t>(own.ops.size()) - first});
    }
  }

  bool AllIdle() const {
    return std::all_of(log_.ranks.begin(), log_.ranks.end(), [](const RankLog& r) { return r.is_idle; });
  }
  static bool IsOver(const RankLog& rank) { return rank.is_idle || rank.failed_op || rank.is_dead; }
  bool AllOver() const { return std::all_of(log_.ranks.begin(), log_.ranks.end(), IsOver); }

  // True if all ranks came to an end of their own.
  bool Watch() {
    Clock::time_point last_heard = Clock::now();
    while (!AllOver()) {
      if (fleet_.WasInterrupted()) return Stop(AttemptLog::End::Interrupted, "interrupted");
      if (Since(last_heard) > options_.limits.quiet) return Stop(AttemptLog::End::Quiet, "");
      if (Since(begin_) > options_.limits.total) return Stop(AttemptLog::End::OutOfTime, "out of time");
      for (const RankEvent& event : fleet_.Wait(kTick)) {
        last_heard = Clock::now();
        if (event.was_killed && !log_.ranks[event.rank].is_dead) {
          return Stop(AttemptLog::End::Killed, "rank " + std::to_string(event.rank) + " " + fleet_.EndOf(event.rank));
        }
        Note(event);
      }
    }
    return true;
  }

  void Note(const RankEvent& event) {
    RankLog& rank = log_.ranks[event.rank];
    const int64_t now = Since(start_).count();
    if (event.is_dead) {
      rank.is_dead = true;
      rank.failed_ms = now;
      rank.words = fleet_.EndOf(event.rank);
      return;
    }
    const Event& e = event.event;
    if (e.kind == Event::Kind::Failed && !e.in_op) {
      // The process of a rank elsewhere has ended, as its relay says.
      rank.is_dead = true;
      rank.failed_ms = now;
      rank.words = e.text;
      return;
    }
    if (e.kind == Event::Kind::Idle) rank.is_idle = true;
    if (e.op >= rank.ops.size()) return;
    OpTimes& op = rank.ops[e.op];
    if (e.kind == Event::Kind::Issued) op.issued_ms = now;
    if (e.kind == Event::Kind::Returned) op.returned_ms = now;
    if (e.kind == Event::Kind::Data) op.wrong = e;
    if (e.kind == Event::Kind::Done) {
      op.done_ms = now;
      log_.slowest_op = std::max(log_.slowest_op, milliseconds(now - std::max<int64_t>(op.issued_ms, 0)));
    }
    if (e.kind == Event::Kind::Failed) {
      rank.failed_op = e.op;
      rank.failed_ms = now;
      rank.words = e.code == 0 ? e.text : e.text + " (" + std::to_string(e.code) + ")";
    }
  }

  // If all ranks that are waited for have nothing more to do, they are told to issue what they left out. That
  // the waiting then ends proves the cause.
  void Release() {
    const witness::Outcome seen = OutcomeOf(schedule_, log_);
    std::map<uint32_t, std::pair<ScheduledOp, uint32_t>> missing;
    for (const witness::StuckOp& stuck : seen.stuck) {
      const std::vector<ScheduledOp>& ops = schedule_.OpsOf(stuck.rank);
      if (stuck.op >= ops.size()) return;
      for (const uint32_t other : stuck.waits_for) {
        if (!log_.ranks[other].is_idle || log_.ranks[other].is_dead) return;
        const auto [at, is_new] = missing.emplace(
            other, std::pair{Counterpart(ops[stuck.op], stuck.rank), turns_[stuck.rank][stuck.op]});
        if (!is_new && !(at->second.first == Counterpart(ops[stuck.op], stuck.rank))) return;
      }
    }
    if (missing.empty()) return;
    for (const auto& [rank, op] : missing) {
      const auto id = static_cast<uint32_t>(log_.ranks[rank].ops.size());
      fleet_.Send(rank, {.kind = Command::Kind::Op, .op = op.first, .tag = op.second});
      fleet_.Send(rank, {.kind = Command::Kind::Run, .first = id, .count = 1});
    }
    // Into a copy: what happens now is no longer what the schedule does.
    AttemptLog before = log_;
    const Clock::time_point start = Clock::now();
    bool released = false;
    while (!released && Since(start) < kReleaseLimit && !fleet_.WasInterrupted()) {
      for (const RankEvent& event : fleet_.Wait(kTick)) Note(event);
      released = std::all_of(seen.stuck.begin(), seen.stuck.end(), [&](const witness::StuckOp& stuck) {
        return log_.ranks[stuck.rank].ops[stuck.op].done_ms >= 0;
      });
    }
    log_ = std::move(before);
    if (!released) return;
    for (const auto& [rank, op] : missing) log_.released_by.push_back(rank);
  }

  ScheduledOp Counterpart(ScheduledOp op, uint32_t rank) const {
    if (!IsPointToPoint(op.kind)) return op;
    op.kind = op.kind == OpKind::Send ? OpKind::Recv : OpKind::Send;
    op.peer = schedule_.MemberIndex(op.comm, rank);
    return op;
  }

  const Schedule& schedule_;
  const AttemptOptions& options_;
  Launcher& launcher_;
  Fleet fleet_;
  std::vector<std::vector<uint32_t>> turns_;
  AttemptLog log_;
  Clock::time_point begin_, start_;
};

// The end of one rank closes connections of others, which then report that.
bool IsConsequence(const RankLog& rank) {
  for (const std::string_view words : {"closed by peer", "reset by peer", "Broken pipe"}) {
    if (!rank.is_dead && rank.words.find(words) != std::string::npos) return true;
  }
  return false;
}

// Who has not come to the place where this operation stands, or came with something else.
class Absence {
 public:
  Absence(const Schedule& schedule, const AttemptLog& log) : schedule_(schedule), log_(log) {
    for (uint32_t rank = 0; rank < schedule.world; ++rank) turns_.push_back(TurnsOf(schedule, rank));
  }

  std::vector<uint32_t> WaitsFor(uint32_t rank, uint32_t index) const {
    const std::vector<ScheduledOp>& ops = schedule_.OpsOf(rank);
    // A fence has no equals in the schedule: whoever is not through with its own is waited for.
    if (index >= ops.size()) return {};
    const ScheduledOp& op = ops[index];
    const std::vector<uint32_t>& members = schedule_.comms[op.comm];
    if (IsPointToPoint(op.kind)) return {members[static_cast<size_t>(op.peer)]};
    std::vector<uint32_t> others;
    for (const uint32_t other : members) {
      if (other != rank && !HasMet(other, op, turns_[rank][index])) others.push_back(other);
    }
    std::sort(others.begin(), others.end());
    return others;
  }

 private:
  bool HasMet(uint32_t other, const ScheduledOp& op, uint32_t turn) const {
    const std::vector<ScheduledOp>& ops = schedule_.OpsOf(other);
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops[i].comm != op.comm || !IsCollective(ops[i].kind) || turns_[other][i] != turn) continue;
      return HasArrived(other, i) && Pair(op, ops[i]);
    }
    return false;
  }

  // Where the device waits, the host runs ahead: an operation stands behind all that the program waits for before it, and
  // behind what its communicator's stream has before it.
  bool HasArrived(uint32_t rank, size_t index) const {
    const std::vector<ScheduledOp>& ops = schedule_.OpsOf(rank);
    const std::vector<OpTimes>& times = log_.ranks[rank].ops;
    for (size_t i = 0; i < index; ++i) {
      const bool holds = ops[i].sync || ops[i].kind == OpKind::Wait || (log_.on_streams && ops[i].comm == ops[index].comm);
      if (holds && times[i].done_ms < 0) return false;
    }
    return times[index].issued_ms >= 0;
  }

  const Schedule& schedule_;
  const AttemptLog& log_;
  std::vector<std::vector<uint32_t>> turns_;
};

}  // namespace

milliseconds QuietTime(const RunLimits& limits, milliseconds slowest_op, milliseconds least) {
  constexpr int kTimes = 50;
  constexpr milliseconds kMost{15000};
  if (limits.quiet.count() > 0) return limits.quiet;
  return std::clamp(slowest_op * kTimes, least, std::max(least, kMost));
}

std::vector<uint32_t> TurnsOf(const Schedule& schedule, uint32_t rank) {
  std::map<std::tuple<uint32_t, OpKind, int32_t>, uint32_t> next;
  std::vector<uint32_t> turns;
  for (const ScheduledOp& op : schedule.OpsOf(rank)) {
    const bool is_pair = IsPointToPoint(op.kind);
    // All collectives of a communicator count together.
    const OpKind family = IsCollective(op.kind) ? OpKind::AllReduce : op.kind;
    turns.push_back(next[{op.comm, family, is_pair ? op.peer : -1}]++);
  }
  return turns;
}

AttemptLog RunAttempt(const Schedule& schedule, const AttemptOptions& options, Launcher& launcher,
                      InterruptGuard& interrupt) {
  AttemptLog failed{.end = AttemptLog::End::NoConnect};
  std::vector<RankLink> links = launcher.Start(schedule.world, &failed.reason);
  if (links.empty()) return failed;
  return Attempt(schedule, options, launcher, interrupt, std::move(links)).Run();
}

witness::Outcome OutcomeOf(const Schedule& schedule, const AttemptLog& log) {
  witness::Outcome out;
  const Absence absence(schedule, log);
  const bool has_cause = std::any_of(log.ranks.begin(), log.ranks.end(), [](const RankLog& rank) {
    return rank.failed_ms >= 0 && !IsConsequence(rank);
  });
  for (uint32_t r = 0; r < schedule.world; ++r) {
    const RankLog& rank = log.ranks[r];
    uint32_t open = 0;
    while (open < rank.ops.size() && rank.ops[open].done_ms >= 0) ++open;
    const bool has_ended = rank.failed_ms >= 0;
    if (has_ended && (!has_cause || !IsConsequence(rank)))
      out.refused.push_back({r, rank.failed_op.value_or(open)});
    for (uint32_t i = 0; i < rank.ops.size(); ++i) {
      if (rank.ops[i].wrong) out.wrong.push_back({r, i});
    }
    const bool is_wait = open < schedule.OpsOf(r).size() && schedule.OpsOf(r)[open].kind == OpKind::Wait;
    if (has_ended || open == rank.ops.size() || rank.ops[open].issued_ms < 0 || is_wait) continue;
    out.stuck.push_back({r, open, absence.WaitsFor(r, open)});
  }
  out.cycle = witness::FindCycle(out.stuck, schedule.world);
  out.effect = !out.stuck.empty()     ? witness::Effect::Deadlock
               : !out.refused.empty() ? witness::Effect::Error
               : !out.wrong.empty()   ? witness::Effect::Corruption
                                      : witness::Effect::Clean;
  return out;
}

}  // namespace allranks::verify
