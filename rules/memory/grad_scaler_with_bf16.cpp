#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;

constexpr std::string_view kAR806 = "AR806";

bool IsScaler(const Context& context, const objects::KnownCall& call) {
  const ValueId made = context.facts.value(context.program.funcs[call.function].module, call.expr);
  return context.program.text(call.entry->name).ends_with(".__init__") && context.values.IsA(made, "torch.amp.GradScaler");
}

bool IsBfloat16(const Context& context, ValueId dtype) {
  const std::vector<ValueId> leaves = context.values.Leaves(dtype);
  return !leaves.empty() && std::ranges::all_of(leaves, [&](ValueId leaf) {
    return context.values.External(leaf) == "torch.bfloat16";
  });
}

// All regions of mixed precision of a file compute in bfloat16, and there is one; the first of them.
const objects::KnownCall* Bfloat16Region(const Context& context, ir::ModuleId module) {
  const objects::KnownCall* region = nullptr;
  for (const objects::KnownCall& call : context.index.known_calls()) {
    if (context.program.funcs[call.function].module != module || !call.entry->Has(knowledge::Role::Autocast)) continue;
    if (!IsBfloat16(context, context.index.Arg(call, "dtype"))) return nullptr;
    if (region == nullptr) region = &call;
  }
  return region;
}

void CheckGradScalerWithBf16(const Context& context, FindingSink& sink) {
  for (const objects::KnownCall& call : context.index.known_calls()) {
    if (!IsScaler(context, call)) continue;
    const ir::ModuleId module = context.program.funcs[call.function].module;
    const ValueId enabled = context.index.Arg(call, "enabled");
    if (enabled && !context.values.IsTrue(enabled)) continue;
    const objects::KnownCall* region = Bfloat16Region(context, module);
    if (region == nullptr) continue;
    const objects::Site site{call.function, call.expr};
    Finding finding = FindingAt(context, kAR806, Severity::Warning, Confidence::Likely, site,
                                {"gradients are scaled for float16, but the forward runs in bfloat16: that has the range of float32, so "
                                 "scaling costs one synchronisation per step and may skip steps",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"needed for float16 only", {}});
    AddLabel(finding, SpanOf(context, {region->function, region->expr}), LabelRole::Why, {"computes in bfloat16", {}});
    finding.help = {"create it with `enabled=False`, or remove the scaler", {}};
    const ir::ExprId given = context.index.ArgExpr(call, "enabled");
    const findings::Edit edit = given ? Replace(ArgumentSpan(context, module, call.expr, given), "enabled=False")
                                      : AddArgument(context, module, call.expr, "enabled=False");
    finding.fixes.push_back(MakeFix("turn the scaler off", Applicability::Safe, {edit}));
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule GradScalerWithBf16 = {
    .code = kAR806,
    .name = "grad-scaler-with-bf16",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "`GradScaler` beside autocast regions that compute in bfloat16",
    .explanation = R"md(
## What it finds

A `GradScaler` that is on, in a file whose `autocast` regions all compute in bfloat16.

## Why it hurts

Scaling keeps small float16 gradients from becoming zero. bfloat16 has the exponent of float32, so there
is nothing to keep. What remains is the price: each step looks at all gradients for infinities, waits
for the answer, and skips the step where the scale, which grows on and on, made one overflow. Ranks that
unscale differently then differ in whether they step.

## Wrong

```python
scaler = torch.amp.GradScaler("cuda")
with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = model(batch)
scaler.scale(loss).backward()
```

## Right

```python
scaler = torch.amp.GradScaler("cuda", enabled=False)
with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = model(batch)
scaler.scale(loss).backward()
```

## When it is silent

* `enabled` is a variable, as in `enabled=dtype == torch.float16`.
* The type of a region is a variable, or some region computes in float16.

## Fix

`--fix` passes `enabled=False`, which makes every method of the scaler hand its argument through.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckGradScalerWithBf16,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
