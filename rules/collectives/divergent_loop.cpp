#include "rules/collectives/difference_finding.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR105 = "AR105";

void CheckDivergentLoop(const Context& context, FindingSink& sink) {
  for (const traces::Difference& difference : context.differences.each) {
    if (difference.kind != traces::DifferenceKind::TripCount) continue;
    findings::Text message = {
        "{} runs more often on some ranks: the number of rounds {}, and ranks with more rounds will "
        "wait forever for those that are done{}",
        {OpNameOf(context, difference.culprit), VariesText(difference.axes), VictimText(context, difference)}};
    findings::Text help = {
        "make the number of rounds equal on all ranks (distributed sampler, minimum over the "
        "ranks, `Join`), or communicate once after the loop",
        {}};
    findings::Finding finding = FindingOf(context, difference, kAR105, std::move(message), std::move(help));
    finding.is_in_preview = IsUncertainInPython(context, FunctionOf(context, difference), finding);
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule DivergentLoop = {
    .code = kAR105,
    .name = "divergent-loop",
    .severity = Severity::Error,
    .preview_in_part = kUncertainInPython,
    .languages = "Python, C, C++",
    .summary = "collective in a loop whose number of rounds differs between ranks",
    .explanation = R"md(
## What it finds

A collective, or the backward of a DDP model, inside a loop that may run a different number of times
on each rank: over a slice `files[rank::world_size]`, over a per-rank list, a filtered or iterable
dataset, the keys of a dictionary that local work filled, or `while` a rank's own condition holds.

## Why it hurts

Rank 0 has 13 files and rank 1 has 12: rank 1 leaves the loop while rank 0 waits for it in round 13.
The job stands still at the *end* of an epoch or an evaluation, and only when the number of items
does not divide by the number of ranks, so the small test run with eight samples passes. The ranks
that are done are seen waiting in the next operation after the loop. The NCCL watchdog ends it with
`Watchdog caught collective operation timeout`; the Flight Recorder reports `missing ranks`, or
`collective type mismatch` when the next operation is of another kind.

## Wrong

```python
for path in paths[rank::world_size]:
    score = torch.tensor(evaluate(path), device=device)
    dist.all_reduce(score)
    total += score
```

## Right

```python
total = torch.zeros(1, device=device)
for path in paths[rank::world_size]:
    total += evaluate(path)
dist.all_reduce(total)        # once, after the loop
```

## When it is silent

* The number of rounds is equal by construction: a `DistributedSampler`, a loader that a framework
  prepared, a range over a number that was reduced (`MIN` over the ranks) or that is the same
  everywhere.
* The shares come out equal: a list that was padded to, or cut at, a multiple of the ranks before
  `items[rank::world_size]`, blocks of `len(items) // world_size`.
* The loop runs under `Join` that is enabled and issues only what the joined modules do: there ranks that
  are done answer for the others.
* There is no collective in the loop. Of forwards of DDP without gradients only the first sends buffers.

## Fix

Take the collective out of the loop where that keeps the meaning. Otherwise make the number of
rounds equal: pad the shards, drop the rest, or agree on the smallest count with
`all_reduce(count, op=MIN)` and stop there on every rank. For DDP training with uneven inputs, use
`with Join([model]):`.

## Proof

The witness gives one class of ranks one round more. `allranks verify` replays it: these ranks wait
in that round.
)md",
    .check = CheckDivergentLoop,
    .scenario = Scenario::SkippedCollective};

}  // namespace allranks::rules
