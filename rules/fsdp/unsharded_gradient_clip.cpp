#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;

constexpr std::string_view kAR605 = "AR605";

// `model` of `model.parameters()`.
ir::ExprId ModelOf(const Context& context, const ir::Module& module, ir::ExprId parameters) {
  if (!parameters || module[parameters].kind != ir::ExprKind::Call) return {};
  const ir::Expr& callee = module[ir::CalleeOf(module[parameters])];
  const bool is_it = callee.kind == ir::ExprKind::Attribute && context.program.text(ir::AttrOf(callee)) == "parameters";
  return is_it ? ir::ObjectOf(callee) : ir::ExprId::None();
}

// `model.clip_grad_norm_(1.0)`, and not the function of PyTorch.
bool ClipsByMethod(const Context& context, ir::ModuleId module_id) {
  const ir::Module& module = context.program.modules[module_id];
  return std::ranges::any_of(context.index.ExprsOf(module_id, ir::ExprKind::Call), [&](ir::ExprId call) {
    const ir::Expr& callee = module[ir::CalleeOf(module[call])];
    const bool is_named = callee.kind == ir::ExprKind::Attribute && context.program.text(ir::AttrOf(callee)) == "clip_grad_norm_";
    return is_named && context.values.External(context.facts.value(module_id, ir::CalleeOf(module[call]))).empty();
  });
}

// A test on the way asks how the model is sharded, or the file clips by the method as well.
bool KnowsHowItIsSharded(const Context& context, const objects::Site& site) {
  const ir::ModuleId module_id = context.program.funcs[site.function].module;
  const std::vector<objects::Guard> guards = context.reach.Guards(site);
  const bool asks = std::ranges::any_of(guards, [&](const objects::Guard& guard) {
    return NamesAnyByOrigin(context, {guard.function, guard.test},
                            {"fsdp", "FSDP", "shard", "Shard", "strategy", "isinstance", "hasattr", "ddp", "world_size", "distributed"});
  });
  return asks || ClipsByMethod(context, module_id) || NamesAny(context, module_id, {"DistributedDataParallel", "DDP"});
}

void CheckUnshardedGradientClip(const Context& context, FindingSink& sink) {
  for (const objects::KnownCall& call : context.index.known_calls()) {
    if (context.program.text(call.entry->name) != "torch.nn.utils.clip_grad_norm_") continue;
    const ir::ModuleId module_id = context.program.funcs[call.function].module;
    const ir::Module& module = context.program.modules[module_id];
    const ir::ExprId model = ModelOf(context, module, context.index.ArgExpr(call, "parameters"));
    if (!model) continue;
    const std::vector<ValueId> leaves = context.values.Leaves(context.facts.value(module_id, model));
    const objects::Site site{call.function, call.expr};
    const auto is_sharded = [&](ValueId leaf) { return context.values.IsA(leaf, "torch.distributed.fsdp.FullyShardedDataParallel"); };
    if (std::ranges::none_of(leaves, is_sharded)) continue;
    if (AsksForAttributeBefore(context, site, context.facts.value(module_id, model))) continue;
    // Where it is sharded only sometimes, the code may know when.
    if (!std::ranges::all_of(leaves, is_sharded) && KnowsHowItIsSharded(context, site)) continue;
    const std::string name = Quoted(context, {call.function, model});
    Finding finding = FindingAt(context, kAR605, Severity::Error, Confidence::Likely, site,
                                {"each rank clips by the norm of its own shard of `{}`: the ranks scale their gradients "
                                 "differently",
                                 {name}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"sees the local shards only", {}});
    finding.help = {"call `{}.clip_grad_norm_(...)`, which reduces the norm over the ranks", {name}};
    if (const ir::ExprId norm = context.index.ArgExpr(call, "max_norm")) {
      const std::string text = std::string(TextOf(context, module_id, model)) + ".clip_grad_norm_(" +
                               std::string(TextOf(context, module_id, norm)) + ")";
      finding.fixes.push_back(MakeFix("clip by the norm of the whole model", Applicability::Safe,
                                      {Replace(SpanOf(context, site), text)}));
    }
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule UnshardedGradientClip = {
    .code = kAR605,
    .name = "unsharded-gradient-clip",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "`torch.nn.utils.clip_grad_norm_` on the parameters of an FSDP1 model",
    .explanation = R"md(
## What it finds

`torch.nn.utils.clip_grad_norm_(model.parameters(), ...)` where `model` is wrapped in
`FullyShardedDataParallel` (FSDP1).

## Why it hurts

On FSDP1 the parameters of a rank are its shards, and the function takes the norm of these alone. It is
smaller than the norm of the whole gradient by about the square root of the number of ranks, so clipping
sets in far too late; and each rank scales by another factor, so that the direction of the step is wrong as
well. Training is unstable in a way that gets worse with more ranks.

## Wrong

```python
model = FSDP(model)
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
```

## Right

```python
model = FSDP(model)
model.clip_grad_norm_(1.0)
```

## When it is silent

* The model is sharded with FSDP2 (`fully_shard`): its parameters are DTensors, for which the function
  computes the norm of the whole.
* The model is under DDP, where every rank holds all gradients.
* What the model is cannot be told, or it is wrapped on some paths only.

## Fix

`--fix` calls the method of the wrapper, with the same bound.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckUnshardedGradientClip,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
