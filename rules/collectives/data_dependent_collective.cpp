#include "rules/collectives/difference_finding.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kCode = "AR104";

findings::Text Message(const Context& context, const traces::Difference& difference) {
  const std::string op = OpText(context, difference, difference.culprit);
  const std::string varies = VariesText(difference.axes);
  if (!difference.exit_kind.empty()) {
    return {
        "`{}` depends on {}, which {}: a rank that leaves skips {}, where the other ranks will wait forever",
        {difference.exit_kind, ConditionText(context, difference), varies, op}};
  }
  return {"{} depends on {}, which {}: a rank that gets here will wait forever for those that do not{}",
          {op, ConditionText(context, difference), varies, VictimText(context, difference)}};
}

void Check(const Context& context, FindingSink& sink) {
  for (const traces::Difference& difference : context.analysis.differences) {
    if (difference.kind != traces::DifferenceKind::DataBranch) continue;
    findings::Text help = {
        "let the ranks agree first: reduce or broadcast what {} tests, and branch on the result",
        {ConditionText(context, difference)}};
    sink.push_back(FindingOf(context, difference, kCode, Message(context, difference), std::move(help)));
  }
}

}  // namespace

extern const Rule DataDependentCollective = {
    .code = kCode,
    .name = "data-dependent-collective",
    .severity = Severity::Error,
    .languages = "Python, C, C++",
    .summary = "collective that a rank's own data or environment decides about",
    .explanation = R"md(
## What it finds

A condition without any rank in it that still may turn out differently on each rank, and decides
whether a collective is reached: a loss that is NaN, a batch without valid samples, an early stop on
a metric that nobody reduced, a file that exists, the time that is up, an error such as out of
memory. The backward of a DDP or FSDP model counts as the collective it is.

## Why it hurts

The condition is the same on all ranks in every test and differs once in a million steps. Then one
rank skips its backward, and the others wait for its gradients: a job that ran for days stands
still, and the last line of the log says nothing. Where the skipping rank goes on to the next step
instead, its gradients of step `n + 1` are added to those of step `n` of the others: no hang, wrong
training. The NCCL watchdog ends a hang with `Watchdog caught collective operation timeout`. The
Flight Recorder reports `missing ranks`, or `collective type mismatch`.

## Wrong

```python
loss = model(batch)
if torch.isnan(loss):
    continue              # this rank only
loss.backward()           # all others wait here
```

## Right

```python
loss = model(batch)
bad = torch.isnan(loss).float()
dist.all_reduce(bad, op=dist.ReduceOp.MAX)
if bad.item() > 0:
    continue              # all ranks or none
loss.backward()
```

## When it is silent

* The tested value was reduced, broadcast or gathered before, also inside a helper.
* What it is computed from is the same on every rank: a plain loader over a plain dataset,
  configuration, arguments.
* Both outcomes issue the same operations, or nothing collective is skipped.
* The exit is a `raise` that no handler of the project catches.

## Fix

Make the decision together. `all_reduce` a flag with `MAX` to act when any rank wants to, with `MIN`
to act when all do; or decide on rank 0 and `broadcast`. Instead of skipping a backward, multiply
the loss by zero: the gradients are then communicated and count for nothing.

## Proof

The witness takes one rank through each outcome. `allranks verify` replays it: the ranks that
reached the operation wait for the one that did not.
)md",
    .check = Check,
    .scenario = Scenario::SkippedCollective};

}  // namespace allranks::rules
