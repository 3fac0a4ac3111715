#include "runtime-verify/coordinator/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime-verify/coordinator/expectation.h"
#include "runtime-verify/coordinator/measure.h"
#include "runtime-verify/coordinator/scale.h"
#include "runtime-verify/coordinator/scenario.h"
#include "runtime-verify/simulator/streams.h"
#include "witness/json.h"
#include "witness/matching.h"

namespace allranks::verify {
namespace {

using witness::Effect;
using witness::Outcome;
using witness::Schedule;
using witness::ScheduledOp;
using witness::Witness;

// The way to run in which the first operation on each communicator makes it.
constexpr const char* kFirstUse = "nccl first use";

milliseconds ElapsedSince(Clock::time_point start) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - start);
}

// A hang says most, wrong data least.
int Weight(Effect effect) {
  switch (effect) {
    case Effect::Deadlock:
      return 4;
    case Effect::Error:
      return 3;
    case Effect::Corruption:
      return 2;
    case Effect::Semantic:
      return 1;
    case Effect::Clean:
      return 0;
  }
  return 0;
}

// The schedule without what only people read.
std::string KeyOf(const Witness& witness) {
  Witness bare = witness;
  bare.finding.clear();
  for (witness::RankClass& one : bare.classes) one.guard.clear();
  for (std::vector<witness::Op>& ops : bare.ops) {
    for (witness::Op& op : ops) {
      op.source.clear();
      op.at = {};
    }
  }
  return (IsOfPyTorch(witness) ? "torch " : "") + witness::WriteJson(bare);
}

std::string ControlKey(const RankBackend::Variant& variant, const Schedule& schedule) {
  std::string key = variant.name + "/" + std::to_string(schedule.world);
  for (const std::vector<uint32_t>& comm : schedule.comms) {
    key += "/";
    for (const uint32_t rank : comm) key += std::to_string(rank) + ",";
  }
  std::set<std::string> kinds;
  for (const ScheduledOp& op : schedule.ops[0]) {
    kinds.insert(std::to_string(op.comm) + std::string(NameOf(op.kind)) + std::string(NameOf(op.dtype)));
  }
  for (const std::string& kind : kinds) key += " " + kind;
  return key;
}

std::string WordsOf(const AttemptLog& log) {
  for (size_t rank = 0; rank < log.ranks.size(); ++rank) {
    if (!log.ranks[rank].words.empty()) return "rank " + std::to_string(rank) + ": " + log.ranks[rank].words;
  }
  return "it hangs";
}

}  // namespace

Schedule ControlOf(const Schedule& schedule) {
  Schedule control{.world = schedule.world, .comms = schedule.comms, .class_of = {}, .ops = {}};
  std::vector<ScheduledOp> kinds;
  for (const std::vector<ScheduledOp>& ops : schedule.ops) {
    for (const ScheduledOp& op : ops) {
      ScheduledOp plain{
          .kind = op.kind, .comm = op.comm, .count = op.count, .dtype = op.dtype, .redop = op.redop};
      if (IsRooted(op.kind)) plain.root = 0;
      // A pair: the first of the group sends to the second.
      if (IsPointToPoint(op.kind))
        plain = {
            .kind = witness::OpKind::Send, .comm = op.comm, .count = op.count, .dtype = op.dtype, .peer = 1};
      if (op.kind == witness::OpKind::Wait || schedule.comms[op.comm].size() < 2) continue;
      if (std::find(kinds.begin(), kinds.end(), plain) == kinds.end()) kinds.push_back(plain);
    }
  }
  for (uint32_t rank = 0; rank < schedule.world; ++rank) {
    control.class_of.push_back(rank);
    std::vector<ScheduledOp>& own = control.ops.emplace_back();
    for (ScheduledOp op : kinds) {
      const int32_t member = schedule.MemberIndex(op.comm, rank);
      const bool is_pair = IsPointToPoint(op.kind);
      if (member < 0 || (is_pair && member > 1)) continue;
      if (is_pair && member == 1)
        op = {
            .kind = witness::OpKind::Recv, .comm = op.comm, .count = op.count, .dtype = op.dtype, .peer = 0};
      own.push_back(op);
    }
  }
  return control;
}

milliseconds Verifier::Left() const { return std::max(options_.budget - ElapsedSince(start_), milliseconds(0)); }

Verdict Verifier::Verify(const Witness& original) {
  const Clock::time_point begin = Clock::now();
  Verdict verdict;
  verdict.backend = backend_ == nullptr ? "sim" : backend_->name;
  verdict.ran = original;
  std::string error;
  Witness witness = options_.ranks == 0 ? original : ScaledTo(original, options_.ranks, &error);
  if (!error.empty()) {
    verdict.reason = error;
    return verdict;
  }
  if (IsMeasured(witness.scenario)) {
    verdict = Measure(witness);
  } else {
    witness = Expanded(witness);
    const std::string key = KeyOf(witness);
    if (const auto found = known_.find(key); found != known_.end()) {
      verdict = found->second;
    } else {
      verdict = Answer(witness);
      if (verdict.kind != VerdictKind::Inconclusive) known_.emplace(key, verdict);
    }
    verdict.ran = witness;
    AddMeasure(original, &verdict);
  }
  // Where all go through, how NCCL would hang says nothing.
  if (verdict.effect == Effect::Semantic) verdict.expected = {};
  verdict.duration = ElapsedSince(begin);
  return verdict;
}

Verdict Verifier::Answer(const Witness& witness) {
  if (backend_ == nullptr) return Foretell(witness);
  Verdict seen = Run(witness);
  // What ranks have shown stands, also where it shows nothing sure.
  if (!options_.model_instead || seen.kind != VerdictKind::Inconclusive || !seen.trials.empty() || interrupt_.HasCome()) return seen;
  Verdict foretold = Foretell(witness);
  foretold.reason = fmt::format("of the simulator, as {} could not tell: {}", backend_->name, seen.reason);
  return foretold;
}

Verdict Verifier::Foretell(const Witness& witness) const {
  const Schedule schedule = witness::MakeSchedule(witness);
  Verdict verdict;
  verdict.backend = "sim";
  verdict.version = "strict matching";
  verdict.trials.push_back({.name = "model", .outcome = witness::MatchStrictly(schedule), .log = {}});
  verdict.effect = verdict.trials[0].outcome.effect;
  verdict.kind = verdict.effect == Effect::Clean ? VerdictKind::NotReproduced : VerdictKind::Reproduced;
  verdict.expected = ExpectedOf(witness);
  return verdict;
}

// Matched operations first: a hang says something only where they go through.
std::string Verifier::Control(const RankBackend::Variant& variant, const Schedule& schedule, milliseconds least,
                              bool at_first_use, milliseconds* slowest) {
  const Schedule control = ControlOf(schedule);
  const std::string key = ControlKey(variant, control) + (at_first_use ? kFirstUse : "");
  if (const auto known = controls_.find(key); known != controls_.end()) {
    *slowest = known->second;
    return "";
  }
  AttemptOptions options{.fence = true, .release = false, .at_first_use = at_first_use, .on_streams = backend_->is_on_streams, .limits = options_.limits};
  // Not known yet how slow they are.
  options.limits.quiet = std::max(options_.limits.quiet, std::max(least, milliseconds(10000)));
  const AttemptLog log = RunAttempt(control, options, *variant.launcher, interrupt_);
  if (log.end == AttemptLog::End::NoConnect) return "the ranks did not come together: " + log.reason;
  if (log.end == AttemptLog::End::Interrupted || log.end == AttemptLog::End::Killed) return log.reason;
  const Outcome out = OutcomeOf(control, log);
  if (out.effect != Effect::Clean) {
    return "control_failed: matched operations do not work here: " + WordsOf(log);
  }
  *slowest = log.slowest_op;
  controls_.emplace(key, log.slowest_op);
  return "";
}

bool Verifier::RunVariant(const RankBackend::Variant& variant, const Schedule& schedule, const Witness& witness, bool at_first_use,
                          Verdict* verdict) {
  const milliseconds least(witness.quiet_ms);
  milliseconds slowest{0};
  verdict->reason = Control(variant, schedule, least, at_first_use, &slowest);
  if (!verdict->reason.empty()) return false;
  AttemptOptions options{.fence = witness.fence, .release = true, .at_first_use = at_first_use, .on_streams = backend_->is_on_streams, .limits = options_.limits};
  options.limits.quiet = QuietTime(options_.limits, slowest, least);
  options.limits.total = std::min({options.limits.total, milliseconds(witness.total_ms), Left()});
  // What either model says is foretold: NCCL behaves as a ring once it is connected, and strictly before.
  std::vector<Effect> expected = {witness::MatchStrictly(schedule).effect};
  if (variant.protocol) expected.push_back(SimulateRing(schedule, *variant.protocol, witness.fence).effect);
  if (variant.protocol && (at_first_use || HangsOnStream(schedule))) expected.push_back(Effect::Deadlock);
  const auto is_expected = [&](bool clean) {
    return std::ranges::any_of(expected, [&](Effect effect) { return (effect == Effect::Clean) == clean; });
  };
  Trial trial{.name = at_first_use ? kFirstUse : variant.name, .outcome = {}, .log = {}, .runs = 0, .agreeing = 0};
  // Once more, if it is not what was foretold.
  constexpr uint32_t kMostRuns = 2;
  while (trial.runs < kMostRuns) {
    AttemptLog log = RunAttempt(schedule, options, *variant.launcher, interrupt_);
    if (!log.reaped) wedged_ = "wedged: a rank could not be ended, so nothing more is run";
    if (backend_->probe && log.end == AttemptLog::End::Quiet && wedged_.empty()) wedged_ = backend_->probe();
    using End = AttemptLog::End;
    if (log.end == End::NoConnect || log.end == End::Interrupted || log.end == End::Killed) {
      verdict->reason = log.reason;
      // A process of a launched job does not come back.
      if (log.end == End::Killed && backend_->is_launched) wedged_ = "a rank of the job is gone, so nothing more is run: " + log.reason;
      return false;
    }
    if (log.end == AttemptLog::End::OutOfTime) {
      verdict->reason = "budget: out of time after " + std::to_string(log.duration.count()) + " ms";
      return false;
    }
    Outcome seen = OutcomeOf(schedule, log);
    ++trial.runs;
    if (!trial.log || Weight(seen.effect) > Weight(trial.outcome.effect)) {
      trial.agreeing = 0;
      trial.outcome = std::move(seen);
      trial.log = std::move(log);
      ++trial.agreeing;
    } else if (seen.effect == trial.outcome.effect) {
      ++trial.agreeing;
    }
    if (is_expected(trial.outcome.effect == Effect::Clean) || !wedged_.empty()) break;
  }
  if (trial.outcome.effect == Effect::Deadlock && !is_expected(false)) {
    verdict->reason = "unexplained: the ranks hang where neither strict matching nor the model of NCCL's rings says so";
    verdict->trials.push_back(std::move(trial));
    return false;
  }
  verdict->version = trial.log->description;
  verdict->trials.push_back(std::move(trial));
  return true;
}

Verdict Verifier::Run(const Witness& witness) {
  Verdict verdict;
  verdict.backend = backend_->name;
  const Schedule schedule = backend_->name == "nccl" ? OnNccl(witness) : witness::MakeSchedule(witness);
  if (schedule.world > backend_->most_ranks) {
    verdict.reason = std::to_string(schedule.world) + " ranks are more than the " +
                     std::to_string(backend_->most_ranks) +
                     (backend_->is_launched ? " of the job" : " that run on one machine") + "; the simulator takes 1024";
    return verdict;
  }
  if (!wedged_.empty()) verdict.reason = wedged_;
  if (Left().count() == 0) verdict.reason = "budget: the time for all findings is used up (--time-budget)";
  if (!verdict.reason.empty()) return verdict;
  std::string reason;
  for (const RankBackend::Variant& variant : backend_->variants) {
    if (!RunVariant(variant, schedule, witness, false, &verdict)) reason = verdict.reason;
    if (!wedged_.empty() || interrupt_.HasCome()) break;
  }
  // What a ready communicator lets through may hang where the operation makes it.
  const bool makes_late = backend_->name == "nccl" && ExpectedOf(witness).at_first_use;
  if (makes_late && wedged_.empty() && !interrupt_.HasCome()) {
    if (!RunVariant(backend_->variants[0], OnNcclAtFirstUse(witness), witness, true, &verdict)) reason = verdict.reason;
  }
  verdict.reason = reason;
  if (verdict.trials.empty()) return verdict;
  std::stable_sort(verdict.trials.begin(), verdict.trials.end(), [](const Trial& a, const Trial& b) {
    return Weight(a.outcome.effect) > Weight(b.outcome.effect);
  });
  verdict.effect = verdict.trials[0].outcome.effect;
  if (!reason.empty()) return verdict;
  verdict.kind = verdict.effect == Effect::Clean ? VerdictKind::NotReproduced : VerdictKind::Reproduced;
  if (backend_->name != "nccl") verdict.expected = ExpectedOf(witness);
  return verdict;
}

}  // namespace allranks::verify
