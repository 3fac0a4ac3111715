#include "runtime-verify/coordinator/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "witness/ranks_text.h"

namespace allranks::verify {
namespace {

using witness::Effect;
using witness::Op;
using witness::RanksText;
using witness::Witness;

constexpr size_t kMostOps = 256;

// The operation that stands for a step, or one to stand in for it.
std::vector<Op> StepOf(const Witness& witness) {
  for (const std::vector<Op>& ops : witness.ops) {
    if (!ops.empty()) return ops;
  }
  Op op{.id = "",
        .op = "all_reduce",
        .comm = witness.comms.empty() ? "world" : witness.comms[0].id,
        .redop = "sum",
        .source = "backward",
        .at = {}};
  return {op};
}

// `ends` tells by rank how far it goes; ranks that go equally far are one class, whose operations `make`
// gives.
template <class Make>
Witness WithSchedules(const Witness& witness, const std::vector<uint32_t>& ends, Make make) {
  Witness out = witness;
  out.scenario = {};
  out.classes.clear();
  out.ops.clear();
  out.stuck.clear();
  if (out.comms.empty()) {
    std::vector<uint32_t> all(witness.world);
    std::iota(all.begin(), all.end(), 0u);
    out.comms.push_back({"world", std::move(all)});
  }
  std::map<uint32_t, size_t> class_of;
  for (uint32_t rank = 0; rank < witness.world; ++rank) {
    const auto [found, is_new] = class_of.emplace(ends[rank], out.classes.size());
    if (is_new) {
      out.classes.push_back({.id = fmt::format("c{}", found->second), .ranks = {}, .guard = ""});
      out.ops.push_back(make(ends[rank]));
    }
    out.classes[found->second].ranks.push_back(rank);
  }
  return out;
}

uint32_t BatchesOf(const witness::UnevenBatches& s, size_t rank) {
  return s.drop_last ? s.samples[rank] / s.batch[rank]
                     : (s.samples[rank] + s.batch[rank] - 1) / s.batch[rank];
}

std::vector<uint32_t> Batches(const witness::UnevenBatches& s) {
  std::vector<uint32_t> batches;
  for (size_t rank = 0; rank < s.samples.size(); ++rank) batches.push_back(BatchesOf(s, rank));
  return batches;
}

Witness ExpandedOf(const Witness& witness, const witness::UnevenBatches& s) {
  const std::vector<Op> step = StepOf(witness);
  const std::vector<uint32_t> batches = Batches(s);
  const uint32_t least = *std::min_element(batches.begin(), batches.end());
  const uint32_t most = *std::max_element(batches.begin(), batches.end());
  // What all ranks share says little: two such steps are kept, and what fits of those that differ.
  constexpr uint32_t kSharedSteps = 2;
  const uint32_t first = least > kSharedSteps ? least - kSharedSteps : 0;
  const auto last =
      static_cast<uint32_t>(std::min<size_t>(most, first + std::max<size_t>(kMostOps / step.size(), 1)));
  std::vector<uint32_t> ends;
  // Under Join a rank without data stands in for the operations of the others.
  for (const uint32_t own : batches) ends.push_back(std::min(s.join ? most : own, last));
  return WithSchedules(witness, ends, [&](uint32_t end) {
    std::vector<Op> ops;
    for (uint32_t batch = first; batch < end; ++batch) {
      for (size_t i = 0; i < step.size() && ops.size() < kMostOps; ++i) {
        ops.push_back(step[i]);
        ops.back().id = fmt::format("batch{}.{}", batch, i);
      }
    }
    return ops;
  });
}

Op LikeReduction(Op reduction, std::string id, std::string_view kind, bool sync) {
  reduction.id = std::move(id);
  reduction.op = kind;
  reduction.sync = sync;
  return reduction;
}

// DDP reduces buckets in order, so one that never fills holds back those behind it; the rank's backward then
// returns, and its next forward raises. With find_unused_parameters all fill, and one more reduction tells
// which were used.
Witness ExpandedOf(const Witness& witness, const witness::UnusedParameter& s) {
  const Op reduction = StepOf(witness)[0];
  std::vector<uint32_t> ends;
  for (const std::vector<uint32_t>& unused : s.unused) {
    const bool is_held_back = !s.find_unused && !unused.empty();
    ends.push_back(is_held_back ? *std::min_element(unused.begin(), unused.end()) : s.buckets);
  }
  return WithSchedules(witness, ends, [&](uint32_t end) {
    std::vector<Op> ops;
    const auto add = [&](std::string id, std::string_view kind, bool sync) {
      ops.push_back(LikeReduction(reduction, std::move(id), kind, sync));
    };
    for (uint32_t bucket = 0; bucket < end; ++bucket)
      add(fmt::format("bucket{}", bucket), "all_reduce", false);
    if (s.find_unused) add("used", "all_reduce", false);
    if (end == s.buckets) add("end", "wait", true);
    return ops;
  });
}

// Reductions of a micro-step end with it: DDP waits for them in the backward.
Witness ExpandedOf(const Witness& witness, const witness::Accumulation& s) {
  const Op reduction = StepOf(witness)[0];
  // What is cut off is like what stays.
  const uint32_t most = static_cast<uint32_t>(kMostOps) / (s.buckets + 1);
  const uint32_t first = s.no_sync ? s.micro_steps - 1 : s.micro_steps - std::min(s.micro_steps, most);
  return WithSchedules(witness, std::vector<uint32_t>(witness.world, 0), [&](uint32_t) {
    std::vector<Op> ops;
    const auto add = [&](std::string id, std::string_view kind, bool sync) {
      ops.push_back(LikeReduction(reduction, std::move(id), kind, sync));
    };
    for (uint32_t step = first; step < s.micro_steps; ++step) {
      for (uint32_t bucket = 0; bucket < s.buckets; ++bucket)
        add(fmt::format("step{}.{}", step, bucket), "all_reduce", false);
      add(fmt::format("step{}.end", step), "wait", true);
    }
    return ops;
  });
}

// Those who write are held before they do, and so before all that they do afterwards. Whoever then gets through what
// stands in between may read before there is anything to read.
Witness ExpandedOf(const Witness& witness, const witness::FileOrder& s) {
  const std::vector<Op> between = witness.ops.empty() ? std::vector<Op>() : witness.ops[0];
  std::vector<uint32_t> ends(witness.world, 1);
  for (const uint32_t writer : s.writers) ends[writer] = 0;
  return WithSchedules(witness, ends, [&](uint32_t end) { return end == 0 ? std::vector<Op>() : between; });
}

template <class T>
Witness ExpandedOf(const Witness& witness, const T&) {
  return witness;
}

// Whether one rank alone waits.
bool IsOne(const Verdict& verdict) {
  return !verdict.trials.empty() && verdict.trials[0].outcome.stuck.size() == 1;
}

std::string WaitingRanks(const Verdict& verdict) {
  std::vector<uint32_t> ranks;
  if (!verdict.trials.empty()) {
    for (const witness::StuckOp& stuck : verdict.trials[0].outcome.stuck) ranks.push_back(stuck.rank);
  }
  return ranks.empty() ? "" : RanksText(ranks, 0);
}

// Every parameter is used, and DDP is asked to look for those that are not.
bool IsNeedless(const witness::UnusedParameter& s) {
  return s.find_unused && std::ranges::all_of(s.unused, [](const auto& buckets) { return buckets.empty(); });
}

std::string NumbersOf(const Witness&, const witness::UnevenBatches& s, const Verdict& verdict) {
  const std::string batches = fmt::format("batches by rank: {}", fmt::join(Batches(s), ", "));
  const std::string waiting = WaitingRanks(verdict);
  if (!waiting.empty()) return batches + "; behind the shortest, " + waiting + (IsOne(verdict) ? " waits forever" : " wait forever");
  return batches + (s.join ? "; under Join all go through" : "; all go through");
}

std::string NumbersOf(const Witness& w, const witness::UnusedParameter& s, const Verdict& verdict) {
  std::vector<uint32_t> skipping;
  for (uint32_t rank = 0; rank < w.world; ++rank) {
    if (!s.unused[rank].empty()) skipping.push_back(rank);
  }
  const std::string waiting = WaitingRanks(verdict);
  if (!waiting.empty()) {
    return fmt::format(
        "{} leave{} a bucket of {} unreduced, and PyTorch ends {} in the next forward (`Expected to have "
        "finished reduction in the prior iteration`), while {} wait{} in the backward",
        RanksText(skipping, 0), skipping.size() == 1 ? "s" : "", s.buckets,
        skipping.size() == 1 ? "it" : "them", waiting, IsOne(verdict) ? "s" : "");
  }
  if (!s.find_unused && !skipping.empty()) {
    return fmt::format(
        "every rank leaves a bucket of {} unreduced, and PyTorch ends all of them in the next forward (`Expected to have "
        "finished reduction in the prior iteration`)",
        s.buckets);
  }
  const uint32_t issued = s.buckets + (s.find_unused ? 1 : 0);
  if (IsNeedless(s)) {
    return fmt::format(
        "{} reductions a step instead of {}: every parameter is used, and find_unused_parameters asks for "
        "it in each step",
        issued, s.buckets);
  }
  return fmt::format("{} reductions a step on every rank", issued);
}

std::string NumbersOf(const Witness&, const witness::Accumulation& s, const Verdict&) {
  const uint64_t needed = s.buckets;
  const uint64_t issued = s.no_sync ? needed : needed * s.micro_steps;
  return fmt::format("{} reduction{} for each step of the optimizer and its {} micro-steps on every rank, {} of them for nothing",
                     issued, issued == 1 ? "" : "s", s.micro_steps, issued - needed);
}

std::string NumbersOf(const Witness& w, const witness::FileOrder& s, const Verdict& verdict) {
  const std::string writers = RanksText(s.writers, 0);
  const std::string held = fmt::format("with {} held before writing, ", writers);
  const std::string waiting = WaitingRanks(verdict);
  if (!waiting.empty()) return fmt::format("{}{} wait{} before reading", held, waiting, IsOne(verdict) ? "s" : "");
  std::vector<uint32_t> readers;
  for (uint32_t rank = 0; rank < w.world; ++rank) {
    if (std::ranges::find(s.writers, rank) == s.writers.end()) readers.push_back(rank);
  }
  return fmt::format("{}{} of {} get{} to where the file is read, and it is not there", held, RanksText(readers, 0), w.world,
                     readers.size() == 1 ? "s" : "");
}

template <class T>
std::string NumbersOf(const Witness&, const T&, const Verdict&) {
  return "";
}

// What DDP does where all operations go through: it refuses the next forward, or reduces more than it need.
Effect BeyondSchedule(const witness::UnusedParameter& s) {
  const bool leaves_out = std::ranges::any_of(s.unused, [](const auto& buckets) { return !buckets.empty(); });
  if (leaves_out && !s.find_unused) return Effect::Error;
  return IsNeedless(s) ? Effect::Semantic : Effect::Clean;
}

// What goes through may be more than it need.
Effect BeyondSchedule(const witness::Accumulation& s) {
  return s.no_sync || s.micro_steps == 1 ? Effect::Clean : Effect::Semantic;
}

// Nobody waited for the file.
Effect BeyondSchedule(const witness::FileOrder&) { return Effect::Error; }

template <class T>
Effect BeyondSchedule(const T&) {
  return Effect::Clean;
}

// Where a rank waits for one that is held, the program has seen to the order.
void SettleFileOrder(Verdict* verdict) {
  if (verdict->kind != VerdictKind::Reproduced || verdict->effect != Effect::Deadlock) return;
  verdict->kind = VerdictKind::NotReproduced;
  verdict->effect = Effect::Clean;
}

}  // namespace

Witness Expanded(const Witness& witness) {
  return std::visit([&](const auto& scenario) { return ExpandedOf(witness, scenario); }, witness.scenario);
}

void AddMeasure(const Witness& witness, Verdict* verdict) {
  verdict->measured = std::visit(
      [&](const auto& scenario) { return NumbersOf(witness, scenario, *verdict); }, witness.scenario);
  if (verdict->kind == VerdictKind::NotReproduced) {
    verdict->effect = std::visit([](const auto& scenario) { return BeyondSchedule(scenario); }, witness.scenario);
    if (verdict->effect != Effect::Clean) verdict->kind = VerdictKind::Reproduced;
  } else if (std::holds_alternative<witness::FileOrder>(witness.scenario)) {
    SettleFileOrder(verdict);
  }
}

}  // namespace allranks::verify
