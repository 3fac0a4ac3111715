// What the workers of a loader begin with: a number of the worker alone is the same on every rank.
#pragma once

#include "analyzer/objects/settings.h"
#include "rules/rule.h"

namespace allranks::rules {

// What a `worker_init_fn` does to the generators of a worker.
enum class WorkerSeed : uint8_t {
  Unknown,   // not seen, or it counts ranks
  OfLoader,  // of the number that the loader drew (`torch.initial_seed()`), as without it
  OfWorker,  // of the number of the worker and of settings alone
  OneForAll,  // a number or setting that all workers of all ranks have
};

class WorkerSeeds {
 public:
  explicit WorkerSeeds(const Context& context)
      : context_(context), settings_(context.program, context.knowledge, context.facts, context.file_uses.paths()) {}

  // Of the function that a loader was given; `seed`: the call that seeds in it.
  WorkerSeed Of(variation::ValueId worker_init_fn, objects::Site& seed) const;
  // Whether the function that comes to `seed` so seeds the generator that `draw` uses: of torch, NumPy or Python; of a transform of a library
  // it is not known which, so that all three must be.
  bool ReachesDraw(const objects::Site& seed, WorkerSeed kind, std::string_view draw) const;
  // Whether a loader leaves NumPy in the state of the process that forked its workers, as PyTorch did before 1.9.
  bool KeepsNumPy(ir::ModuleId module) const;
  // Whether a call seeds by the number of the worker that runs it (`random.seed(get_worker_info().id)`).
  bool IsOfWorkerInfo(const objects::KnownCall& call) const;

 private:
  WorkerSeed KindOf(const objects::KnownCall& call, variation::ValueId number) const;
  bool CountsFromState(const objects::KnownCall& call) const;
  bool CountsRanks(variation::ValueId seed) const;
  bool IsOfLoader(variation::ValueId seed) const;
  bool IsNumberOfWorker(variation::ValueId seed, variation::FuncId function) const;
  bool IsOneNumber(variation::ValueId seed, variation::FuncId function, int depth) const;

  const Context& context_;
  objects::Settings settings_;
};

// The finding of workers that are seeded by their number alone, and of the loop over the loader that has them.
findings::Finding SeededByNumber(const Context& context, std::string_view code, const objects::Site& seed, const objects::Site& iterable);

// Findings of AR312: samples of training data whose data set seeds by the number of the worker alone.
void CheckWorkerSeeds(const Context& context, std::string_view code, FindingSink& sink);

}  // namespace allranks::rules
