// What the workers of a loader begin with: a number of the worker alone is the same on every rank.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

// What a `worker_init_fn` does to the generators of a worker.
enum class WorkerSeed : uint8_t {
  Unknown,   // not seen, or it counts ranks
  OfLoader,  // of the number that the loader drew (`torch.initial_seed()`), as without it
  OfWorker,  // of the number of the worker and of settings alone
};

class WorkerSeeds {
 public:
  explicit WorkerSeeds(const Context& context) : context_(context) {}

  // Of the function that a loader was given; `seed`: the call that seeds in it.
  WorkerSeed Of(variation::ValueId worker_init_fn, objects::Site& seed) const;
  // Whether a call seeds by the number of the worker that runs it (`random.seed(get_worker_info().id)`).
  bool IsOfWorkerInfo(const objects::KnownCall& call) const;

 private:
  bool CountsRanks(variation::ValueId seed) const;
  bool IsOfLoader(variation::ValueId seed) const;
  bool IsNumberOfWorker(variation::ValueId seed, variation::FuncId function) const;

  const Context& context_;
};

// Findings of AR312: workers of a loader that deals out training data, seeded by their number alone.
void CheckWorkerSeeds(const Context& context, std::string_view code, FindingSink& sink);

}  // namespace allranks::rules
