#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;

constexpr std::string_view kAR807 = "AR807";

bool HoldsLoopThatTrains(const Context& context, ir::ModuleId module_id, ir::StmtId outer) {
  const ir::Module& module = context.program.modules[module_id];
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::StmtId inner{i};
    const bool is_loop = module[inner].kind == ir::StmtKind::For || module[inner].kind == ir::StmtKind::While;
    if (!is_loop || inner == outer || !context.index.tree(module_id).Holds(outer, inner)) continue;
    if (context.training.Trains(module_id, inner)) return true;
  }
  return false;
}

void CheckEmptyCacheInLoop(const Context& context, FindingSink& sink) {
  for (const KnownCall& call : context.index.known_calls()) {
    const Site site{call.function, call.expr};
    if (!context.program.text(call.entry->name).starts_with("torch.") || MethodOf(context, site) != "empty_cache") continue;
    const ir::ModuleId module = context.program.funcs[call.function].module;
    const std::vector<ir::StmtId> loops = context.index.LoopsAround(site);
    // Every step: in the innermost loop that trains, under no test of its own.
    if (loops.empty() || !context.training.Trains(module, loops.front()) || HoldsLoopThatTrains(context, module, loops.front())) continue;
    const std::vector<objects::Guard> guards = context.guards.Of(site);
    const bool is_conditional = std::ranges::any_of(guards, [&](const objects::Guard& guard) {
      const source::Span test = SpanOf(context, {guard.function, guard.test});
      return test.begin > context.program.modules[module].span(loops.front()).begin;
    });
    if (is_conditional) continue;
    Finding finding = FindingAt(context, kAR807, Severity::Info, Confidence::Likely, site,
                                {"the GPU memory cache is emptied in every step: each next step allocates "
                                 "it again from the driver", {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"synchronises with the device", {}});
    finding.help = {"remove it, or empty the cache only where the shapes change: before and after an evaluation", {}};
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule EmptyCacheInLoop = {
    .code = kAR807,
    .name = "empty-cache-in-loop",
    .severity = Severity::Info,
    .on_by_default = false,
    .languages = "Python",
    .summary = "`empty_cache` in every step of a training loop",
    .explanation = R"md(
## What it finds

`torch.cuda.empty_cache()` in the innermost loop that computes gradients, in each of its rounds.

## Why it hurts

It gives free blocks back to the driver, from which the next step must ask for them again: a `cudaFree` and a
`cudaMalloc` each, which wait for all work on the device. A step gets slower by some ten percent, on each rank
at another moment, so that the others wait in the next collective. It frees nothing that PyTorch could not use
itself.

## Wrong

```python
for batch in loader:
    model(batch).mean().backward()
    optimizer.step()
    torch.cuda.empty_cache()
```

## Right

```python
for batch in loader:
    model(batch).mean().backward()
    optimizer.step()
torch.cuda.empty_cache()
```

## When it is silent

* It stands outside of the innermost loop, or under a test: every n-th step, after running out of memory.

It is advice, and off by default: `--select AR807` turns it on.

## Fix

There is none: somebody put it there because memory ran out.

## Proof

There is nothing to replay: it costs time only.
)md",
    .check = CheckEmptyCacheInLoop};

}  // namespace allranks::rules
