
#include "rules/finding_parts.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;

constexpr std::string_view kCode = "AR308";

// A seed that is not the same on all ranks: it counts ranks, or is drawn from clock or chance by each for itself.
bool DiffersByRank(const Context& context, ValueId seed) {
  const knowledge::Axes axes = context.facts.values_store.axes(seed);
  return axes.has(knowledge::Axis::Global) || axes.has(knowledge::Axis::Local) || axes.has(knowledge::Axis::Node) ||
         axes.has(knowledge::Axis::Environment);
}

// The seeds of two nodes, or, where the program does not say them, some that differ.
witness::Witness WitnessOf(const Context& context, ValueId seed) {
  constexpr uint32_t kSamples = 1024;
  const traces::World world = objects::SmallJob(context.facts.job);
  witness::SampleShares scenario{.samples = kSamples, .by_rank = true, .seeds = {}};
  for (uint32_t rank = 0; rank < world.size(); ++rank) {
    const std::optional<int64_t> number = context.values.OnRank(seed, world, rank);
    scenario.seeds.push_back(number ? static_cast<uint32_t>(*number) : rank);
  }
  return ScenarioWitness(world, witness::Effect::Semantic, std::move(scenario));
}

void Check(const Context& context, FindingSink& sink) {
  for (const objects::KnownCall& call : context.loading.made_samplers()) {
    const ValueId seed = context.index.Arg(call, "seed");
    const ir::ExprId expr = context.index.ArgExpr(call, "seed");
    if (!seed || !expr || !DiffersByRank(context, seed)) continue;
    if (context.values.IsFalse(context.index.Arg(call, "shuffle"))) continue;
    const objects::Site site{call.function, expr};
    Finding finding = FindingAt(
        context, kCode, Severity::Warning, Confidence::Likely, site,
        {"each rank shuffles with a seed of its own and then takes its share of its own order: some samples are read by "
         "several ranks, others by none",
         {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"must be the same on all ranks", {}});
    AddReasons(context, site, finding);
    finding.help = {"pass one seed on all ranks; the sampler takes the rank into account by itself", {}};
    finding.witness = WitnessOf(context, seed);
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule SeedAcrossRanks = {
    .code = kCode,
    .name = "seed-across-ranks",
    .severity = Severity::Warning,
    .languages = "Python",
    .summary = "sampler that shuffles with another seed on each rank, so that the shards overlap",
    .explanation = R"md(
## What it finds

A shuffling `DistributedSampler` whose seed depends on the rank, the clock or chance.

## Why it hurts

The sampler shuffles all indices and takes every n-th, beginning with its rank. That deals out each sample
once only if all ranks shuffle alike. With seeds of their own each takes a random share: with two ranks a
quarter of the samples is read twice and a quarter not at all, in every epoch. Nothing fails, and the
epoch has the right length.

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
* The sampler does not shuffle.
* The seed was sent to all ranks by a collective.

## Fix

There is none: the seed that was meant stands somewhere before.

## Proof

`allranks verify` makes the order of each rank with its seed, as `torch.randperm` does, deals the samples
out, and counts how many are taken twice and how many never.
)md",
    .check = Check,
    .scenario = Scenario::SampleShares};

}  // namespace allranks::rules
