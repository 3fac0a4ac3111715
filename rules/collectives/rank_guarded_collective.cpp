#include "rules/collectives/difference_finding.h"
#include "rules/collectives/hoist.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR101 = "AR101";

void CheckRankGuardedCollective(const Context& context, FindingSink& sink) {
  for (const traces::Difference& difference : context.differences.each) {
    if (difference.kind != traces::DifferenceKind::Guard) continue;
    // Those that hide in a framework call are AR102.
    if (IsImplied(OperationAt(context, difference.culprit).op_class)) continue;
    findings::Text message = {"{} {}: {}",
                              {OpText(context, difference, difference.culprit), ReachText(difference),
                               WaitText(context, difference)}};
    findings::Text help = {
        "make this call on every rank; keep only local work, such as printing and writing "
        "files, under {}",
        {ConditionText(context, difference)}};
    findings::Finding finding = FindingOf(context, difference, kAR101, std::move(message), std::move(help));
    AddHoist(context, difference, finding);
    const variation::FuncId function = FunctionOf(context, difference);
    const bool is_never_started = context.launch.IsNeverOnRanks(context.program.funcs[function].module) && IsUncertainInPython(context, function, finding);
    finding.is_in_preview = is_never_started || KeepsAwayInPreview(context, difference, finding);
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule RankGuardedCollective = {
    .code = kAR101,
    .name = "rank-guarded-collective",
    .severity = Severity::Error,
    .preview_in_part = "findings in Python code that are not certain where commands start no rank of the program (5 of the 11 reviewed were right), where "
                       "the operation stands in a function that is called and hangs on a setting there (5 of 9; of the others 7 of 8), or where they rest on "
                       "more than names, settings and callers",
    .languages = "Python, C, C++",
    .summary = "collective that only some ranks of its group reach",
    .explanation = R"md(
## What it finds

A collective call (`all_reduce`, `broadcast`, `barrier`, ...) that only some ranks of its group reach, because
it follows a condition on the rank: an `if`, a conditional expression, `and` / `or`, `match`, a
decorator such as `rank_zero_only`, or a `with` block. The condition may stand in another function or file
than the call; the calls in between are listed with the finding.

allranks does not look for the pattern "collective below an `if rank == 0`". It computes which operations each
class of ranks issues, and in which order, and reports the first one that some rank of the group lacks.

## Why it hurts

A collective completes when every rank of the group has called it. Ranks that never call it leave the others
waiting. Nothing is printed: GPUs show full load, the log stands still. With NCCL the watchdog ends the job
after its timeout (ten minutes unless changed) with a message of the kind `Watchdog caught collective
operation timeout`, and the stack trace often names an innocent line: ranks pair operations by order and not
by name, so the ranks that skipped the call are seen waiting in the *next* collective. Where both operations
happen to fit, the job goes on with wrong numbers. The Flight Recorder reports `missing ranks`, or `collective
type mismatch` when another operation met it.

## Wrong

```python
if dist.get_rank() == 0:
    accuracy = evaluate(model, loader)   # reduces its counters over all ranks
    print(accuracy)
```

## Right

```python
accuracy = evaluate(model, loader)
if dist.get_rank() == 0:
    print(accuracy)
```

## When it is silent

* All ranks issue the same operations after all: one `broadcast` in each arm, or the pair of barriers that
  lets one rank go first.
* The condition is the same on every rank: `world_size > 1`, `is_initialized()`, a command-line argument, a
  value that was reduced or broadcast before.
* The condition is membership of the group that the operation names.
* A library is handed a class of the file, and a method of it that nothing calls issues the same operation, as
  the handler of a server does: the ranks that seem to lack it may run that meanwhile.
* The way there needs a setting to have two values at once: `mode == "train"` around a test that holds for
  `mode == "eval"`.
* The condition varies along a direction that the group does not span: a pipeline-stage test around a
  reduction over the data-parallel group.

## Fix

Let every rank make the call and keep what is local (printing, writing a file) under the condition. If only
some ranks are meant to take part, create a group of these ranks, on all ranks, and pass it.

`--unsafe-fixes` moves the call before or behind the `if`, where it is the first or last line of it and there
is no `else`. It is not safe: whether the others can make the call is not known.

## Proof

The finding carries the two sequences of operations. `allranks verify` replays them: the ranks that reached
the call wait in it until the time limit, and the report names the line in which each rank stands.
)md",
    .check = CheckRankGuardedCollective,
    .scenario = Scenario::SkippedCollective,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
