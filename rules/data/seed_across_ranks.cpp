#include <algorithm>
#include <optional>

#include "rules/data/local_seeds.h"
#include "rules/data/own_orders.h"
#include "rules/data/own_weights.h"
#include "rules/data/reseeding.h"
#include "rules/data/same_generators.h"
#include "rules/data/same_noise.h"
#include "rules/data/shared_state.h"
#include "rules/finding_parts.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kAR308 = "AR308";

// A seed that is not the same on all ranks: it counts ranks, or is drawn from clock or chance by each for itself.
bool SeedDiffersByRank(const Context& context, ValueId seed) {
  const knowledge::Axes axes = context.facts.values_store.axes(seed);
  return axes.has(knowledge::Axis::Global) || axes.has(knowledge::Axis::Local) || axes.has(knowledge::Axis::Node) ||
         !(axes & knowledge::kSurroundings).empty();
}

// The seeds of two nodes, or, where the program does not say them, some that differ.
witness::Witness SeedWitness(const Context& context, ValueId seed) {
  constexpr uint32_t kSamples = 1024;
  const traces::World world = objects::SmallJob(context.facts.job);
  witness::SampleShares scenario{.samples = kSamples, .by_rank = true, .seeds = {}};
  for (uint32_t rank = 0; rank < world.size(); ++rank) {
    const std::optional<int64_t> number = context.values.OnRank(seed, world, rank);
    scenario.seeds.push_back(number ? static_cast<uint32_t>(*number) : rank);
  }
  return ScenarioWitness(world, witness::Effect::Semantic, std::move(scenario));
}

void CheckSamplers(const Context& context, FindingSink& sink) {
  for (const objects::KnownCall& call : context.loading.made_samplers()) {
    const ValueId seed = context.index.Arg(call, "seed");
    const ir::ExprId expr = context.index.ArgExpr(call, "seed");
    if (!seed || !expr || !SeedDiffersByRank(context, seed)) continue;
    if (context.values.IsFalse(context.index.Arg(call, "shuffle"))) continue;
    const objects::Site site{call.function, expr};
    Finding finding = FindingAt(
        context, kAR308, Severity::Warning, Confidence::Likely, site,
        {"each rank shuffles with its own seed and then takes its share of its own order: some samples are read by "
         "several ranks, others by none",
         {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"must be the same on all ranks", {}});
    AddReasons(context, site, finding);
    finding.help = {"pass the same seed on all ranks; the sampler takes the rank into account by itself", {}};
    finding.witness = SeedWitness(context, seed);
    sink.push_back(std::move(finding));
  }
}

void CheckSeedAcrossRanks(const Context& context, FindingSink& sink) {
  CheckSamplers(context, sink);
  CheckSameNoise(context, kAR308, sink);
  CheckSameGenerators(context, kAR308, sink);
  CheckSharedState(context, kAR308, sink);
  CheckOwnOrders(context, kAR308, sink);
  CheckReseeding(context, kAR308, sink);
  CheckLocalSeeds(context, kAR308, sink);
  CheckOwnWeights(context, kAR308, sink);
}

}  // namespace

extern const Rule SeedAcrossRanks = {
    .code = kAR308,
    .name = "seed-across-ranks",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "shards or weights drawn by each rank for itself, or noise that is the same on every rank",
    .explanation = R"md(
## What it finds

* A shuffling `DistributedSampler` whose seed depends on the rank, the clock or chance.
* `random.shuffle` of a list of which each rank then takes its slice, in a program that gives no common seed.
* The same before a `DistributedSampler` or the Trainer of Transformers deals the data out by position: in the
  constructor of the data set, of a list that it is made of, or as `.shuffle()` and `.train_test_split()` of
  the `datasets` library without a seed.
* Data that each rank draws for itself before they are dealt out so, or before Accelerate deals out
  the batches: `random_split` and scikit-learn's `train_test_split` without a seed, `random.sample`,
  `randperm`. What they return is followed through helpers and fields.
* The other way round: one seed on every rank of a data-parallel program, no seed that depends on
  the rank anywhere, and noise that the training step draws (`torch.randn_like` in a loop that
  trains, in what it calls, in the `forward` of the wrapped model, or in the `training_step` that
  Lightning runs). Where a helper seeds, the finding is at its caller. What drops something in training
  (`if self.training:`) is only *possible*.
* A seed made of the local rank and of no other, in a program that trains on what is dealt out to all ranks:
  the ranks of two nodes that have the same local rank draw alike. Only *possible*, as nothing says that the
  job has several nodes.
* A training loop that seeds alike on all ranks in each round, in a function that gave each rank a seed of
  its own before.
* A `torch.Generator` that is seeded alike on all ranks before a loop over the rank's share of the data, and
  that each round draws from.
* The state of a generator that one rank has saved and all ranks put back, where each had its own.
* A model that is made under a seed of the rank, where the program reduces the gradients by hand
  (`dist.all_reduce(p.grad)`) and nothing sends the weights of one rank to the others.

## Why it hurts

The sampler shuffles all indices and takes every n-th, beginning with its rank. That deals out each sample
once only if all ranks shuffle alike. With seeds of their own each takes a random share: with two ranks a
quarter of the samples is read twice and a quarter not at all, in every epoch. Nothing fails, and the
epoch has the right length.

Noise that is the same on every rank makes the ranks repeat one another: all draw the same diffusion
steps, the same masks, the same latent, and eight ranks bring less than a batch of eight times the
size would.

Ranks that begin with other weights and add up their gradients train models that never become one: each
applies gradients to weights that they do not belong to.

## Wrong

```python
sampler = DistributedSampler(dataset, seed=args.seed + dist.get_rank())
```

## Right

```python
sampler = DistributedSampler(dataset, seed=args.seed)
```

## When it is silent

* The seed of the program is another one on each rank (`torch.manual_seed(seed + rank)`): augmentation and
  dropout should differ, and DDP sends the weights of rank 0 to all.
* No function comes both to the seed and to the noise through a loop that trains, one rank alone draws it, or
  it is drawn in a test.
* The noise is drawn where an argument was left out (`if noise is None:`), and no call is seen to leave it
  out.
* The function that draws handles gradients: what is added to gradients after they were reduced must be the
  same on all ranks.
* The noise is drawn where a field of the model is not None, and nobody is seen to make the model so.
* A trainer of Lightning is told of one device, or of nothing that makes several ranks.
* The sampler does not shuffle, or the list that is shuffled is not what the length of the data set counts.
* The Trainer is given an `IterableDataset`: its first rank reads that, and sends the others their batches.
* The Trainer's model is spread over all devices of one process (`device_map="auto"`), and no line of the
  repository starts ranks of it.
* The seed holds for a while only (`with torch.random.fork_rng():`).
* The program stores another number on each rank into the option that it seeds with (`args.seed += rank`).
* A generator is seeded anew in each round, which is meant to give all rounds the same numbers, or makes an
  order of the data, which has to agree.
* The seed, or what was drawn, was sent to all ranks by a collective.

## Fix

There is none: the seed that was meant stands somewhere before.

## Proof

`allranks verify` makes the order of each rank with its seed, as `torch.randperm` does, deals the samples
out, and counts how many are taken twice and how many never.
)md",
    .check = CheckSeedAcrossRanks,
    .scenario = Scenario::SampleShares};

}  // namespace allranks::rules
