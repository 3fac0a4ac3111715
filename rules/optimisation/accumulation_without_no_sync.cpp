#include <algorithm>
#include <optional>

#include "rules/finding_parts.h"
#include "rules/optimisation/accumulation.h"
#include "rules/optimisation/late_no_sync.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kCode = "AR403";

// The file says somewhere when gradients are to be reduced, or leaves it to a framework. A method that does it and that
// nobody calls says nothing.
bool SpeaksOfSynchronisation(const Context& context, ir::ModuleId module_id) {
  const ir::Module& module = context.program.modules[module_id];
  if (HoldsWord(context.files[module.file].text, {"Accelerator", "Fabric", "FullyShardedDataParallel", "fully_shard", "deepspeed"})) return true;
  for (uint32_t i = 0; i < module.exprs.size(); ++i) {
    const ir::Expr& expr = module[ir::ExprId{i}];
    if (expr.kind != ir::ExprKind::Attribute && expr.kind != ir::ExprKind::Name) continue;
    const std::string_view name = context.program.text(expr.kind == ir::ExprKind::Name ? ir::NameOf(expr) : ir::AttrOf(expr));
    if (!HoldsWord(name, {"no_sync", "require_backward_grad_sync", "set_requires_gradient_sync", "accumulate", "no_backward_sync"})) continue;
    const FuncId function = FunctionAround(context, module_id, ir::ExprId{i});
    const bool is_definition = function && HoldsWord(context.program.text(context.program.function(function).name), {"no_sync"});
    if (!is_definition || !context.index.CallersOf(function).empty()) return true;
  }
  return false;
}

// A method of a class that wraps its models in DDP itself, and calls them in methods that users define.
bool IsOfWrappingClass(const Context& context, FuncId function) {
  const binding::ClassId owner = context.program.funcs[function].owner;
  return owner && std::ranges::any_of(context.index.known_calls(), [&](const objects::KnownCall& call) {
    return context.program.funcs[call.function].owner == owner &&
           context.program.text(call.entry->name) == "torch.nn.parallel.DistributedDataParallel.__init__";
  });
}

void VisitAccumulation(const Context& context, const objects::Site& backward, FindingSink& sink) {
  const ir::ModuleId module = context.program.funcs[backward.function].module;
  const ir::StmtId stmt = context.index.StatementOf(backward);
  const bool reduces = stmt && (context.training.Reduces(module, stmt) || IsOfWrappingClass(context, backward.function));
  if (!reduces || IsPeriodic(context, backward)) return;
  if (SpeaksOfSynchronisation(context, module)) return;
  for (const objects::Site& step : OptimizerSteps(context, backward.function)) {
    // A step in another arm than the backward belongs to another way to train.
    if (!IsPeriodic(context, step) || !MeetOnOneWay(context, step, backward)) continue;
    Finding finding = FindingAt(context, kCode, Severity::Warning, Confidence::Likely, backward,
                                {"gradients are reduced over the ranks in every micro-step, though the optimizer steps only every n-th "
                                 "time: all but one reduction is for nothing",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"reduces over all ranks", {}});
    AddLabel(finding, SpanOf(context, step), LabelRole::Why, {"every n-th time", {}});
    finding.help = {"run forward and backward of all but the last micro-step under `model.no_sync()`", {}};
    finding.witness = AccumulationWitness(context, PeriodOf(context, step), finding.span);
    if (std::optional<findings::Fix> fix = ReduceWhereItSteps(context, backward, step)) finding.fixes.push_back(std::move(*fix));
    sink.push_back(std::move(finding));
    return;
  }
}

void Check(const Context& context, FindingSink& sink) {
  for (const objects::Site& backward : context.training.backwards()) VisitAccumulation(context, backward, sink);
  VisitLateNoSync(context, kCode, sink);
}

}  // namespace

extern const Rule AccumulationWithoutNoSync = {
    .code = kCode,
    .name = "accumulation-without-no-sync",
    .severity = Severity::Warning,
    .languages = "Python",
    .summary = "gradient accumulation under DDP that reduces gradients in every micro-step",
    .explanation = R"md(
## What it finds

A training step that accumulates gradients under DDP (the optimizer steps only when a remainder says so) in a
file that never says when to reduce them. And a `no_sync` around the backward alone.

## Why it hurts

DDP reduces gradients in every backward unless it was told otherwise before the *forward*. With 8 accumulated
micro-steps seven of eight reductions, each of the size of the model, are thrown away. On slow links a step
takes several times as long. With `no_sync` around the backward only, the flag is set too late, and nothing is
saved though the code looks right.

## Wrong

```python
for i, batch in enumerate(loader):
    (model(batch).mean() / n).backward()
    if (i + 1) % n == 0:
        optimizer.step()
        optimizer.zero_grad()
```

## Right

```python
for i, batch in enumerate(loader):
    last = (i + 1) % n == 0
    with contextlib.nullcontext() if last else model.no_sync():
        (model(batch).mean() / n).backward()
    if last:
        optimizer.step()
        optimizer.zero_grad()
```

## When it is silent

* The file speaks of `no_sync`, `require_backward_grad_sync` or `accumulate` anywhere: then it is taken to
  know what it does, but for a `no_sync` around a lone backward. Of that only `require_backward_grad_sync` is
  taken to make up for it.
* The model is sharded: FSDP may leave `no_sync` out on purpose, as it costs memory.
* The backward is under the same test as the step.

## Fix

`--unsafe-fixes` sets DDP's `require_backward_grad_sync` at the beginning of each round to the test under
which the optimizer steps. It is not safe, as the test may count what changes within the round, and the
attribute is no documented part of DDP. A `no_sync` around the backward alone is moved up before the forward
where both stand in one block: what stands in between is then indented, and runs under it as well.

## Proof

`allranks verify` replays the reductions of one step of the optimizer, micro-step by micro-step, and counts
those that are for nothing.
)md",
    .check = Check,
    .scenario = Scenario::Accumulation,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
