#include "runtime-verify/coordinator/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "witness/ranks_text.h"

namespace allranks::verify {
namespace {

using witness::Effect;
using witness::Op;
using witness::RanksText;
using witness::Witness;

constexpr size_t kMostOps = 256;

Verdict Computed(Effect effect, std::string measured) {
  Verdict verdict{.kind = effect == Effect::Clean ? VerdictKind::NotReproduced : VerdictKind::Confirmed,
                  .effect = effect,
                  .backend = "sim",
                  .version = "computed"};
  verdict.measured = std::move(measured);
  return verdict;
}

Verdict MeasureOf(const Witness&, const std::monostate&) { return {}; }
Verdict MeasureOf(const Witness&, const witness::UnevenBatches&) { return {}; }
Verdict MeasureOf(const Witness&, const witness::UnusedParameter&) { return {}; }

Verdict MeasureOf(const Witness& w, const witness::DeviceOrdinal& s) {
  std::vector<uint32_t> missing, shared;
  std::map<std::pair<uint32_t, int32_t>, uint32_t> taken;
  const uint32_t per_node = w.world / w.nodes;
  for (uint32_t rank = 0; rank < w.world; ++rank) {
    const int32_t device = s.ordinals[rank];
    if (device < 0 || device >= static_cast<int32_t>(s.devices)) {
      missing.push_back(rank);
    } else if (!taken.emplace(std::pair{rank / per_node, device}, rank).second) {
      shared.push_back(rank);
    }
  }
  if (!missing.empty()) {
    const uint32_t rank = missing[0];
    return Computed(
        Effect::Error,
        fmt::format("{} of {} select a device that a node with {} devices does not have: rank {} on node {} "
                    "asks for device {}, which CUDA refuses as an invalid device ordinal (101)",
                    RanksText(missing, 0), w.world, s.devices, rank, rank / per_node, s.ordinals[rank]));
  }
  if (!shared.empty()) {
    return Computed(Effect::Error,
                    fmt::format("{} select a device that another rank of their node has selected; NCCL "
                                "refuses that as a duplicate GPU",
                                RanksText(shared, 0)));
  }
  return Computed(Effect::Clean, fmt::format("all {} ranks select a device of their own", w.world));
}

// torch.randperm.
std::vector<uint32_t> Permutation(uint32_t samples, uint64_t seed, uint32_t epoch) {
  std::vector<uint32_t> order(samples);
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937 random(static_cast<uint32_t>(seed + epoch));
  for (uint32_t i = 0; i + 1 < samples; ++i) std::swap(order[i], order[i + random() % (samples - i)]);
  return order;
}

Verdict MeasureOf(const Witness& w, const witness::EpochOrder& s) {
  std::set<std::vector<uint32_t>> orders;
  for (uint32_t epoch = 0; epoch < s.epochs; ++epoch)
    orders.insert(Permutation(s.samples, s.seed, s.set_epoch ? epoch : 0));
  std::vector<uint32_t> first = SamplerIndices(s.samples, s.seed, 0, 0, w.world);
  constexpr size_t kShown = 6;
  first.resize(std::min(first.size(), kShown));
  if (orders.size() > 1) {
    return Computed(Effect::Clean, fmt::format("{} epochs of {} samples on {} ranks: {} different orders",
                                               s.epochs, s.samples, w.world, orders.size()));
  }
  return Computed(
      Effect::Semantic,
      fmt::format(
          "{0} of {0} epochs have the same order on all {1} ranks: rank 0 begins each with samples {2}",
          s.epochs, w.world, fmt::join(first, ", ")));
}

// How far from its optimum a parameter of curvature 1 still is after gradient descent with noise-free
// batches.
double RemainingError(double learning_rate, uint64_t steps) {
  double error = 1;
  for (uint64_t i = 0; i < steps; ++i) error -= learning_rate * error;
  return std::fabs(error);
}

Verdict MeasureOf(const Witness& w, const witness::LearningRate& s) {
  constexpr uint64_t kStepsOfAll = 32;
  const uint64_t alone = uint64_t{s.batch} * s.accumulation, effective = alone * w.world;
  const double rate = s.scaled ? s.learning_rate * w.world : s.learning_rate;
  const uint64_t samples = effective * kStepsOfAll;
  const double error_alone = RemainingError(s.learning_rate, samples / alone);
  const double error_all = RemainingError(rate, samples / effective);
  const double error_scaled = RemainingError(s.learning_rate * w.world, samples / effective);
  const std::string numbers = fmt::format(
      "effective batch {} on 1 rank, {} on {} ranks; after {} samples of a least-squares problem with "
      "learning rate {} "
      "the error left is {:.2g} on 1 rank ({} steps) and {:.2g} on {} ranks ({} steps, rate {})",
      alone, effective, w.world, samples, s.learning_rate, error_alone, samples / alone, error_all, w.world,
      samples / effective, rate);
  if (s.scaled) return Computed(Effect::Clean, numbers);
  return Computed(Effect::Semantic, fmt::format("{}; with the rate times {} it would be {:.2g}", numbers,
                                                w.world, error_scaled));
}

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
      ops.push_back(reduction);
      ops.back().id = std::move(id);
      ops.back().op = kind;
      ops.back().sync = sync;
    };
    for (uint32_t bucket = 0; bucket < end; ++bucket)
      add(fmt::format("bucket{}", bucket), "all_reduce", false);
    if (s.find_unused) add("used", "all_reduce", false);
    if (end == s.buckets) add("end", "wait", true);
    return ops;
  });
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

}  // namespace

bool IsMeasured(const witness::Scenario& scenario) {
  return std::holds_alternative<witness::DeviceOrdinal>(scenario) ||
         std::holds_alternative<witness::EpochOrder>(scenario) ||
         std::holds_alternative<witness::LearningRate>(scenario);
}

Verdict Measure(const Witness& witness) {
  Verdict verdict =
      std::visit([&](const auto& scenario) { return MeasureOf(witness, scenario); }, witness.scenario);
  verdict.ran = witness;
  return verdict;
}

Witness Expanded(const Witness& witness) {
  if (const auto* uneven = std::get_if<witness::UnevenBatches>(&witness.scenario))
    return ExpandedOf(witness, *uneven);
  if (const auto* unused = std::get_if<witness::UnusedParameter>(&witness.scenario))
    return ExpandedOf(witness, *unused);
  return witness;
}

void AddMeasure(const Witness& witness, Verdict* verdict) {
  verdict->measured = std::visit(
      [&](const auto& scenario) { return NumbersOf(witness, scenario, *verdict); }, witness.scenario);
  const auto* unused = std::get_if<witness::UnusedParameter>(&witness.scenario);
  if (unused == nullptr || verdict->kind != VerdictKind::NotReproduced) return;
  verdict->effect = BeyondSchedule(*unused);
  if (verdict->effect != Effect::Clean) verdict->kind = VerdictKind::Confirmed;
}

std::vector<uint32_t> SamplerIndices(uint32_t samples, uint64_t seed, uint32_t epoch, uint32_t rank,
                                     uint32_t world) {
  const std::vector<uint32_t> order = Permutation(samples, seed, epoch);
  // Padded from the front, so that all ranks get the same number.
  const uint32_t per_rank = (samples + world - 1) / world;
  std::vector<uint32_t> own;
  for (uint32_t i = 0; i < per_rank; ++i) own.push_back(order[(i * world + rank) % samples]);
  return own;
}

}  // namespace allranks::verify
