#include "runtime-verify/coordinator/measure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "runtime-verify/coordinator/launched_ranks.h"
#include "witness/ranks_text.h"

namespace allranks::verify {
namespace {

using witness::Effect;
using witness::RanksText;
using witness::Witness;

Verdict Computed(Effect effect, std::string measured) {
  Verdict verdict{.kind = effect == Effect::Clean ? VerdictKind::NotReproduced : VerdictKind::Reproduced,
                  .effect = effect,
                  .backend = "sim",
                  .version = std::string(kComputed)};
  verdict.measured = std::move(measured);
  return verdict;
}


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

// Every n-th, beginning with `first`.
std::vector<uint32_t> Dealt(const std::vector<uint32_t>& all, uint32_t first, uint32_t step) {
  std::vector<uint32_t> own;
  for (size_t i = first; i < all.size(); i += step) own.push_back(all[i]);
  return own;
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

// How often each sample is taken in an epoch, and which ones rank by rank make the first step.
struct Readings {
  std::vector<uint32_t> times;  // by sample
  std::set<uint32_t> first_step;
};

Readings ReadingsOf(const Witness& w, const witness::SampleShares& s) {
  Readings out;
  out.times.assign(s.samples, 0);
  for (uint32_t rank = 0; rank < w.world; ++rank) {
    std::vector<uint32_t> own(s.samples);
    std::iota(own.begin(), own.end(), 0u);
    const uint64_t seed = s.seeds.empty() ? 0 : s.seeds[rank];
    if (s.by_rank) {
      own = s.seeds.empty() ? Dealt(own, rank, w.world) : SamplerIndices(s.samples, seed, 0, rank, w.world);
    } else if (!s.seeds.empty()) {
      own = Permutation(s.samples, seed, 0);
    }
    for (uint32_t worker = 0; worker < s.workers; ++worker) {
      const std::vector<uint32_t> read = s.by_worker ? Dealt(own, worker, s.workers) : own;
      for (const uint32_t sample : read) ++out.times[sample];
      // Workers take turns; the first makes the first batch.
      if (worker == 0) out.first_step.insert(read.begin(), read.begin() + std::min<size_t>(read.size(), s.batch));
    }
  }
  return out;
}

Verdict MeasureOf(const Witness& w, const witness::SampleShares& s) {
  const Readings readings = ReadingsOf(w, s);
  const auto count = [&](auto is_counted) {
    return std::ranges::count_if(readings.times, [&](uint32_t times) { return is_counted(times); });
  };
  const uint64_t all = std::accumulate(readings.times.begin(), readings.times.end(), uint64_t{0});
  const auto never = count([](uint32_t times) { return times == 0; });
  const auto often = count([](uint32_t times) { return times > 1; });
  // Shares are made equal by giving some samples twice, fewer than there are ranks.
  const bool is_padding = never == 0 && all < s.samples + uint64_t{w.world};
  const std::string numbers = fmt::format(
      "{} ranks with {} reader{} each take {} samples in an epoch of {}: {} are taken more than once ({} times at most), "
      "{} never; the first step of all ranks has {} different samples of {}",
      w.world, s.workers, s.workers == 1 ? "" : "s", all, s.samples, often, std::ranges::max(readings.times), never,
      readings.first_step.size(), std::min<uint64_t>(uint64_t{s.batch} * w.world, all));
  return Computed(is_padding ? Effect::Clean : Effect::Semantic, numbers);
}

// The gradient of the mean squared error of `weight * x` against `2 * x`, over the samples of ranks [first, last).
double GradientOver(const witness::AveragedGradient& s, uint32_t first, uint32_t last, double weight) {
  double sum = 0;
  for (uint32_t sample = first * s.batch; sample < last * s.batch; ++sample) {
    // Another x for each sample, between 0.5 and 1.5, so that the ranks' gradients differ.
    const double x = 0.5 + (sample * 37 % 101) / 101.0;
    sum += 2 * (weight - 2) * x * x;
  }
  return sum / (static_cast<double>(last - first) * s.batch);
}

// What the optimizer gets: DDP's average of what each rank computed.
double GradientOfRanks(const Witness& w, const witness::AveragedGradient& s, double weight) {
  double sum = 0;
  for (uint32_t rank = 0; rank < w.world; ++rank) {
    const double own = GradientOver(s, rank, rank + 1, weight);
    sum += s.divided ? own / w.world : own;
  }
  return sum / w.world;
}

Verdict MeasureOf(const Witness& w, const witness::AveragedGradient& s) {
  constexpr uint32_t kSteps = 32;
  double weight = 0, whole = 0;
  const double of_ranks = GradientOfRanks(w, s, 0), of_batch = GradientOver(s, 0, w.world, 0);
  for (uint32_t step = 0; step < kSteps; ++step) {
    weight -= s.learning_rate * GradientOfRanks(w, s, weight);
    whole -= s.learning_rate * GradientOver(s, 0, w.world, whole);
  }
  const double ratio = of_ranks / of_batch;
  const std::string numbers = fmt::format(
      "the optimizer gets a gradient of {:.4g} where that of the global batch of {} samples is {:.4g}, {:.3g} of it; after {} "
      "steps at learning rate {} of a least-squares problem the error left is {:.2g} instead of {:.2g}",
      of_ranks, s.batch * w.world, of_batch, ratio, kSteps, s.learning_rate, std::fabs(2 - weight) / 2,
      std::fabs(2 - whole) / 2);
  constexpr double kRounding = 1e-9;
  return Computed(std::fabs(ratio - 1) < kRounding ? Effect::Clean : Effect::Semantic, numbers);
}

// The backend of a group for tensors of a device, as torch.distributed chooses it (distributed_c10d.py, BackendConfig):
// "nccl" is for CUDA only, other single names are for both devices, and `cpu:gloo,cuda:nccl` says it one by one.
std::string BackendFor(std::string_view backends, std::string_view device) {
  if (backends.find(':') == std::string_view::npos)
    return backends == "nccl" && device != "cuda" ? "" : std::string(backends);
  while (!backends.empty()) {
    const std::string_view pair = backends.substr(0, backends.find(','));
    backends.remove_prefix(std::min(backends.size(), pair.size() + 1));
    if (pair.substr(0, pair.find(':')) == device) return std::string(pair.substr(pair.find(':') + 1));
  }
  return "";
}

Verdict MeasureOf(const Witness& w, const witness::TensorMemory& s) {
  const std::string backend = BackendFor(s.backend, s.device);
  const bool is_served = !backend.empty() && (backend != "nccl" || s.device == "cuda");
  if (is_served)
    return Computed(Effect::Clean, fmt::format("all {} ranks hand memory of `{}` to {}", w.world, s.device, backend));
  std::string served;
  for (const std::string_view device : {"cpu", "cuda"}) {
    if (!BackendFor(s.backend, device).empty()) served += (served.empty() ? "" : ", ") + std::string(device);
  }
  return Computed(Effect::Error,
                  fmt::format("all {} ranks hand memory of `{}` to a group whose backend `{}` serves {} only{}", w.world, s.device,
                              s.backend, served.empty() ? "nothing" : served,
                              IsOfPyTorch(w) ? ": each raises `No backend type associated with device type " + s.device + "`" : ""));
}

Verdict MeasureOf(const Witness&, const witness::LaunchedRanks& s) {
  RanksStarted started = RanksStartedBy(s);
  return Computed(started.effect, std::move(started.text));
}

// What is run as a schedule.
template <class T>
Verdict MeasureOf(const Witness&, const T&) {
  return {};
}

}  // namespace

bool IsMeasured(const witness::Scenario& scenario) {
  return std::holds_alternative<witness::DeviceOrdinal>(scenario) ||
         std::holds_alternative<witness::EpochOrder>(scenario) ||
         std::holds_alternative<witness::LearningRate>(scenario) ||
         std::holds_alternative<witness::SampleShares>(scenario) ||
         std::holds_alternative<witness::AveragedGradient>(scenario) ||
         std::holds_alternative<witness::TensorMemory>(scenario) ||
         std::holds_alternative<witness::LaunchedRanks>(scenario);
}

Verdict Measure(const Witness& witness) {
  Verdict verdict =
      std::visit([&](const auto& scenario) { return MeasureOf(witness, scenario); }, witness.scenario);
  verdict.ran = witness;
  return verdict;
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
