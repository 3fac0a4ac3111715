#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kCode = "AR704";

// `loss` of `loss.backward()`; none where the call has arguments.
ir::ExprId LossOf(const ir::Module& module, ir::ExprId call) {
  const ir::Expr& callee = module[ir::CalleeOf(module[call])];
  const bool is_plain = callee.kind == ir::ExprKind::Attribute && ir::ArgCount(module, module[call]) == 0;
  return is_plain ? ir::ObjectOf(callee) : ir::ExprId::None();
}

constexpr std::string_view kBackward = "@gradient_synced.backward";

bool IsPrepare(const Context& context, const objects::KnownCall& call) {
  const std::string_view name = context.program.text(call.entry->name);
  return name == "accelerate.Accelerator.prepare" || name == "accelerate.Accelerator.prepare_model";
}

void Visit(const Context& context, const objects::KnownCall& backward, const objects::KnownCall& prepare,
           FindingSink& sink) {
  const ir::ModuleId module_id = context.program.funcs[backward.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const ir::ExprId loss = LossOf(module, backward.expr);
  if (!loss) return;
  const objects::Site site{backward.function, backward.expr};
  const std::string name = Quoted(context, {backward.function, loss});
  Finding finding = FindingAt(context, kCode, Severity::Error, Confidence::Likely, site,
                              {"`{}.backward()` goes past Accelerate, which scales the loss for mixed precision and for "
                               "accumulated steps, and hands it to DeepSpeed where that is configured",
                               {name}});
  AddLabel(finding, finding.span, LabelRole::Primary, {"PyTorch's own backward", {}});
  AddLabel(finding, SpanOf(context, {prepare.function, prepare.expr}), LabelRole::Why, {"the model is prepared here", {}});
  finding.help = {"call `accelerator.backward(loss)`", {}};
  const ir::Expr& callee = module[ir::CalleeOf(module[prepare.expr])];
  if (callee.kind == ir::ExprKind::Attribute && prepare.function == backward.function) {
    const std::string accelerator(TextOf(context, module_id, ir::ObjectOf(callee)));
    finding.fixes.push_back(MakeFix("let Accelerate compute the gradients", Applicability::Safe,
                                    {Replace(SpanOf(context, site), accelerator + ".backward(" + name + ")")}));
  }
  sink.push_back(std::move(finding));
}

void Check(const Context& context, FindingSink& sink) {
  for (const objects::KnownCall& backward : context.index.known_calls()) {
    if (context.program.text(backward.entry->name) != kBackward) continue;
    const ir::ModuleId module = context.program.funcs[backward.function].module;
    const auto calls = context.index.known_calls();
    const auto prepare = std::ranges::find_if(calls, [&](const objects::KnownCall& call) {
      return context.program.funcs[call.function].module == module && IsPrepare(context, call);
    });
    const bool has_other_wrapper = std::ranges::any_of(calls, [&](const objects::KnownCall& call) {
      return context.program.funcs[call.function].module == module &&
             context.program.text(call.entry->name) == "torch.nn.parallel.DistributedDataParallel.__init__";
    });
    if (prepare != calls.end() && !has_other_wrapper) Visit(context, backward, *prepare, sink);
  }
}

}  // namespace

extern const Rule AccelerateBypassed = {
    .code = kCode,
    .name = "accelerate-bypassed",
    .severity = Severity::Error,
    .languages = "Python",
    .summary = "`loss.backward()` on the loss of a model that Accelerate prepared",
    .explanation = R"md(
## What it finds

`loss.backward()` where the loss was computed by a model that `accelerator.prepare` returned.

## Why it hurts

`accelerator.backward` divides the loss by the accumulated steps, scales it for fp16, and calls the engine
under DeepSpeed. Without it the program is right in one configuration and silently wrong in the others:
gradients vanish in fp16, are too large by the number of accumulated steps, or are missing under ZeRO.

## Wrong

```python
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
loss = model(batch).mean()
loss.backward()
```

## Right

```python
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
loss = model(batch).mean()
accelerator.backward(loss)
```

## When it is silent

* The loss does not come from a prepared model.
* A DDP wrapper is made in the same file: which of the two the loss belongs to is not known.

## Fix

`--fix` calls `accelerator.backward(loss)` where the accelerator's variable is at hand.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = Check,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
