#include "rules/collectives/difference_finding.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR103 = "AR103";

void CheckDivergentEarlyExit(const Context& context, FindingSink& sink) {
  for (const traces::Difference& difference : context.differences.each) {
    if (difference.kind != traces::DifferenceKind::EarlyExit) continue;
    findings::Text message = {
        "`{}` lets {} skip {}: {} will wait there forever{}",
        {ExitText(context, difference), MissingRanks(difference), OpText(context, difference, difference.culprit),
         ReachingRanks(difference), VictimText(context, difference)}};
    const bool ends = difference.exit.word == traces::ExitWord::Process;
    findings::Text help = {
        ends ? "all-reduce a flag so that all ranks exit here together, or raise an error so that the launcher stops the others"
             : "let every rank reach {}: in place of `{}`, leave out only the local work",
        ends ? std::vector<std::string>() : std::vector<std::string>{OpText(context, difference, difference.culprit), ExitText(context, difference)}};
    findings::Finding finding = FindingOf(context, difference, kAR103, std::move(message), std::move(help));
    const variation::FuncId function = FunctionOf(context, difference);
    const bool is_unseen = !context.launch.IsSeenOnRanks(context.program.funcs[function].module) && IsUncertainInPython(context, function, finding);
    finding.is_in_preview = is_unseen || KeepsAwayInPreview(context, difference, finding);
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule DivergentEarlyExit = {
    .code = kAR103,
    .name = "divergent-early-exit",
    .severity = Severity::Error,
    .preview_in_part = "findings in Python code that are not certain, unless they rest on names, settings and callers alone, the program is seen to be started "
                       "on ranks, and no setting decides over a collective in a function that is called: of such findings that were read 16 of 17 are right, "
                       "where one does 1 of 4",
    .languages = "Python, C, C++",
    .summary = "exit on a rank condition that skips a collective of the other ranks",
    .explanation = R"md(
## What it finds

A `return`, `break`, `continue`, `goto` or `sys.exit` on a condition that only some ranks meet, where the
ranks that stay still reach a collective which those that left do not: later in the function, in a
later round of the loop, or in a caller.

## Why it hurts

`if rank != 0: return` at the head of a function is safe as long as the function is local, and turns
into a hang on the day someone adds a barrier at its end. The two lines may be a hundred lines
apart. Rank 0 waits in that barrier; the other ranks are seen waiting in whatever they call next,
usually the gradient reduction of the following step. The NCCL watchdog ends the job after its
timeout with `Watchdog caught collective operation timeout`. The Flight Recorder reports
`collective type mismatch` when the next operation is of another kind, else `missing ranks`. After
`sys.exit(0)` the launcher sees a process that ended well and stops nobody.

## Wrong

```python
def save(model, path):
    if dist.get_rank() != 0:
        return
    torch.save(model.state_dict(), path)
    dist.barrier()
```

## Right

```python
def save(model, path):
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
    dist.barrier()
```

## When it is silent

* Nothing collective is skipped: what follows on that path is local on every rank.
* The ranks that leave issue the same operations before they leave.
* The condition is the same on every rank, or the group of the skipped operation does not span it.
* The exit is a `raise` that no handler of the project catches: the launcher then stops all ranks.

## Fix

Turn the condition round and put the local work under it, so that all ranks run on to the
collective; or move the collective in front of the exit.

## Proof

`allranks verify` replays both sequences: the ranks that stayed wait in the skipped operation.
)md",
    .check = CheckDivergentEarlyExit,
    .scenario = Scenario::SkippedCollective};

}  // namespace allranks::rules
