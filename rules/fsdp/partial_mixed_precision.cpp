#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;

constexpr std::string_view kAR602 = "AR602";

bool Is16Bit(const Context& context, ValueId dtype) {
  const std::vector<ValueId> leaves = context.values.Leaves(dtype);
  return !leaves.empty() && std::ranges::all_of(leaves, [&](ValueId leaf) {
    const std::string_view name = context.values.External(leaf);
    return name == "torch.bfloat16" || name == "torch.float16" || name == "torch.half";
  });
}

bool IsPolicy(const Context& context, const objects::KnownCall& call) {
  const std::string_view name = context.program.text(call.entry->name);
  return name == "torch.distributed.fsdp.MixedPrecision.__init__" || name == "torch.distributed.fsdp.MixedPrecisionPolicy.__init__";
}

bool SaysHowToReduce(const Context& context, const objects::KnownCall& call) {
  const ValueId reduce = context.index.Arg(call, "reduce_dtype");
  return reduce && !context.values.IsNone(reduce);
}

// The function makes two policies to choose from, and gives the other one a type for the reduction.
bool IsChoiceOfTwo(const Context& context, const objects::KnownCall& call) {
  return std::ranges::any_of(context.index.known_calls(), [&](const objects::KnownCall& other) {
    return other.function == call.function && IsPolicy(context, other) && SaysHowToReduce(context, other);
  });
}

void CheckPartialMixedPrecision(const Context& context, FindingSink& sink) {
  for (const objects::KnownCall& call : context.index.known_calls()) {
    const ValueId param = IsPolicy(context, call) ? context.index.Arg(call, "param_dtype") : ValueId::None();
    if (!param || !Is16Bit(context, param) || SaysHowToReduce(context, call) || IsChoiceOfTwo(context, call)) continue;
    const objects::Site site{call.function, call.expr};
    Finding finding = FindingAt(context, kAR602, Severity::Warning, Confidence::Likely, site,
                                {"without `reduce_dtype`, gradients are summed over the ranks in the 16 bits of `param_dtype`",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"no type is given for the reduction", {}});
    finding.help = {"set the reduction type: `reduce_dtype=torch.float32`", {}};
    const ir::ModuleId module = context.program.funcs[call.function].module;
    const ir::ExprId given = context.index.ArgExpr(call, "reduce_dtype");
    const std::string argument = "reduce_dtype=torch.float32";
    std::vector<findings::Edit> edits = {given ? Replace(ArgumentSpan(context, module, call.expr, given), argument)
                                               : AddArgument(context, module, call.expr, argument)};
    for (findings::Edit& edit : EnsureImport(context, module, "torch", "import torch")) edits.push_back(std::move(edit));
    finding.fixes.push_back(MakeFix("reduce gradients in float32", Applicability::Safe, std::move(edits)));
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule PartialMixedPrecision = {
    .code = kAR602,
    .name = "partial-mixed-precision",
    .severity = Severity::Warning,
    .languages = "Python",
    .summary = "mixed precision of FSDP that does not set the type of the gradient reduction",
    .explanation = R"md(
## What it finds

`MixedPrecision` (FSDP1) or `MixedPrecisionPolicy` (FSDP2) with a 16-bit `param_dtype` and no
`reduce_dtype`.

## Why it hurts

Without `reduce_dtype`, gradients are reduced in the type of the parameters. A sum over hundreds of ranks in
bfloat16, which has 8 bits of precision, loses the small contributions: the loss curve of 256 ranks is a
little worse than that of 8, and nobody knows why.

## Wrong

```python
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
```

## Right

```python
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
```

## When it is silent

* `reduce_dtype` is given, whatever its value, here or for another policy that the same function creates.
* The parameters stay in float32, or their type is a variable.

## Fix

`--fix` adds `reduce_dtype=torch.float32`. It doubles the bytes of the reduction. Pass
`torch.bfloat16` to say that the loss of precision is intended.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckPartialMixedPrecision,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
