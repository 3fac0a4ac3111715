#include <algorithm>
#include <optional>

#include "rules/wrapping.h"
#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;

constexpr std::string_view kAR503 = "AR503";

// The wrapping just before, whose line the conversion can change places with.
std::optional<ir::StmtId> WrappingBefore(const Context& context, const objects::Site& convert) {
  const ir::ModuleId module_id = context.program.funcs[convert.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const ir::StmtId here = context.index.StatementOf(convert);
  std::optional<ir::StmtId> before;
  for (const KnownCall& wrap : Wrappings(context)) {
    const ir::StmtId stmt = context.index.StatementOf({wrap.function, wrap.expr});
    if (wrap.function != convert.function || !stmt || module[stmt].end > module[here].begin) continue;
    const bool is_beside = context.index.tree(module_id).BlockOf(stmt) == context.index.tree(module_id).BlockOf(here);
    const ir::ExprId wrapped = AssignedTo(context, {wrap.function, wrap.expr});
    const ir::ExprId inner = context.index.ArgExpr(wrap, "module");
    // `model = DDP(model)`: the same name before and after.
    if (is_beside && wrapped && inner && TextOf(context, module_id, wrapped) == TextOf(context, module_id, inner)) before = stmt;
  }
  return before;
}

void AddFix(const Context& context, const KnownCall& convert, Finding& finding) {
  const objects::Site site{convert.function, convert.expr};
  const ir::ModuleId module_id = context.program.funcs[convert.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const ir::ExprId target = AssignedTo(context, site);
  const ir::ExprId model = context.index.ArgExpr(convert, "module");
  const std::optional<ir::StmtId> wrap = WrappingBefore(context, site);
  if (!target || !model || !wrap || TextOf(context, module_id, target) != TextOf(context, module_id, model)) return;
  const ir::StmtId stmt = context.index.StatementOf(site);
  if (!BeginsLine(context, module_id, stmt) || !BeginsLine(context, module_id, *wrap)) return;
  const std::string line(TextOf(context, module.span(stmt)));
  if (line.find('\n') != std::string::npos) return;
  finding.fixes.push_back(MakeFix("convert before wrapping", Applicability::Unsafe,
                                  {InsertBefore(context, module_id, *wrap, line), RemoveLine(context, module_id, stmt)}));
}

bool SendsNoBuffers(const Context& context, variation::ValueId wrapper) {
  const std::vector<variation::ValueId> leaves = context.values.Leaves(wrapper);
  return std::ranges::all_of(leaves, [&](variation::ValueId leaf) {
    return context.values.IsFalse(context.values.MadeWith(leaf, "broadcast_buffers"));
  });
}

void CheckSyncbnAfterWrap(const Context& context, FindingSink& sink) {
  for (const KnownCall& call : context.index.known_calls()) {
    if (context.program.text(call.entry->name) != "torch.nn.SyncBatchNorm.convert_sync_batchnorm") continue;
    const ir::ExprId model = context.index.ArgExpr(call, "module");
    if (!model || !IsWrapped(context, context.index.Arg(call, "module"))) continue;
    // The converter keeps the parameters; DDP that sends no buffers has nothing left to lose sight of.
    if (SendsNoBuffers(context, context.index.Arg(call, "module"))) continue;
    Finding finding = FindingAt(context, kAR503, Severity::Error, Confidence::Likely, objects::Site{call.function, call.expr},
                                {"`{}` is wrapped already: DDP does not know the layers put in now and keeps "
                                 "using the parameters and buffers of the old ones",
                                 {Quoted(context, {call.function, model})}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"too late", {}});
    for (const objects::KnownCall& wrap : Wrappings(context)) {
      if (wrap.function == call.function) AddLabel(finding, SpanOf(context, {wrap.function, wrap.expr}), LabelRole::Why, {"wrapped here", {}});
    }
    finding.help = {"convert the model first, then wrap the result", {}};
    AddFix(context, call, finding);
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule SyncbnAfterWrap = {
    .code = kAR503,
    .name = "syncbn-after-wrap",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = "the converter passes parameters and buffers to the new layers unchanged, so with current PyTorch little is lost",
    .languages = "Python",
    .summary = "`convert_sync_batchnorm` on a model that DDP has already wrapped",
    .explanation = R"md(
## What it finds

`SyncBatchNorm.convert_sync_batchnorm` on a model that has already been wrapped in `DistributedDataParallel`.

## Why it hurts

When DDP is created, it registers hooks, buckets and the buffers that it broadcasts. Layers that replace
others afterwards are not among them: PyTorch keeps the parameter objects, but the buffers are new, and the
result of converting the wrapper itself depends on the release. The statistics of the ranks drift apart, and a
checkpoint of one rank evaluates differently from that of another.

## Wrong

```python
model = DDP(model, device_ids=[local_rank])
model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
```

## Right

```python
model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
model = DDP(model, device_ids=[local_rank])
```

## When it is silent

* The model is converted before it is wrapped.
* Whether the model is wrapped depends on a condition that is not known.

## Fix

`--unsafe-fixes` swaps both lines, if they are in the same block and use the same name. This is not safe,
because lines in between may use the wrapper.

## Proof

There is nothing to replay: the ranks agree on what they call.
)md",
    .check = CheckSyncbnAfterWrap,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
