#include "rules/frameworks/bypassed_backward.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR701 = "AR701";

bool IsInitialize(std::string_view entry) { return entry == "deepspeed.initialize"; }

// The variable that holds the engine: the first of what `deepspeed.initialize` returns.
std::string EngineName(const Context& context, const objects::KnownCall& initialize) {
  const ir::ModuleId module_id = context.program.funcs[initialize.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const ir::StmtId stmt = context.index.StatementOf({initialize.function, initialize.expr});
  if (!stmt || module[stmt].kind != ir::StmtKind::Assign) return {};
  const ir::ExprList targets = ir::TargetsOf(module, module[stmt]);
  if (targets.size() != 1 || module[targets[0]].kind != ir::ExprKind::Tuple) return {};
  const ir::ExprList items = ir::Items(module, module[targets[0]]);
  return items.size() == 0 ? std::string() : std::string(TextOf(context, module_id, items[0]));
}

void ReportDeepSpeed(const Context& context, const BypassedBackward& found, FindingSink& sink) {
  Finding finding = FindingAt(context, kAR701, found,
                              "`{}.backward()` bypasses the DeepSpeed engine: the loss is not scaled, and the "
                              "engine's step does not see the gradients",
                              "the engine is made here");
  const std::string engine = EngineName(context, *found.taken_over);
  finding.help = {"call `backward(loss)` and `step()` of the engine", {}};
  if (!engine.empty() && found.taken_over->function == found.backward.function) {
    const std::string loss = Quoted(context, {found.backward.function, found.loss});
    finding.fixes.push_back(MakeFix("let the engine compute the gradients", Applicability::Safe,
                                    {Replace(SpanOf(context, found.backward), engine + ".backward(" + loss + ")")}));
  }
  sink.push_back(std::move(finding));
}

void CheckDeepspeedBareBackward(const Context& context, FindingSink& sink) {
  for (const BypassedBackward& found : BypassedBackwards(context, IsInitialize)) ReportDeepSpeed(context, found, sink);
}

}  // namespace

extern const Rule DeepspeedBareBackward = {
    .code = kAR701,
    .name = "deepspeed-bare-backward",
    .severity = Severity::Error,
    .languages = "Python",
    .summary = "`loss.backward()` on the loss of a DeepSpeed engine, bypassing the engine",
    .explanation = R"md(
## What it finds

`loss.backward()` where the loss was computed by a model that `deepspeed.initialize` returned.

## Why it hurts

The engine scales the loss for fp16, divides it by the accumulated steps, and partitions and reduces the
gradients as its ZeRO stage wants. PyTorch's `backward` does none of this: with ZeRO the step finds no
gradients and changes nothing, or the job stops with an assertion inside of DeepSpeed; without it, ranks
drift apart as nothing is reduced.

## Wrong

```python
engine, optimizer, _, _ = deepspeed.initialize(model=model, config=config)
loss = engine(batch)
loss.backward()
optimizer.step()
```

## Right

```python
engine, optimizer, _, _ = deepspeed.initialize(model=model, config=config)
loss = engine(batch)
engine.backward(loss)
engine.step()
```

## When it is silent

* The loss does not come from the engine, or its gradients end at a `detach()` of what did.
* A DDP wrapper is made in the same file, or the loss may be one of such a wrapper: which of the two it
  belongs to is not known.

## Fix

`--fix` calls the engine's `backward` where its variable is at hand. The step is left to you.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckDeepspeedBareBackward,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
