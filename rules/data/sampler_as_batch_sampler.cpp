#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR310 = "AR310";
constexpr std::string_view kParam = "batch_sampler";

// A sampler of PyTorch that yields single indices, on every path.
bool YieldsIndices(const Context& context, ValueId value) {
  const std::vector<ValueId> leaves = context.values.Leaves(value);
  return !leaves.empty() && std::ranges::all_of(leaves, [&](ValueId leaf) {
    if (context.facts.values_store[leaf].kind != ValueKind::Object) return false;
    const std::string_view name = context.program.text(base::NameId{context.facts.values_store[leaf].a});
    return context.values.IsA(leaf, "torch.utils.data.Sampler") && !name.ends_with("BatchSampler") && !name.ends_with(".Sampler");
  });
}

void CheckSamplerAsBatchSampler(const Context& context, FindingSink& sink) {
  for (const KnownCall& call : context.loading.made_loaders()) {
    const ValueId sampler = context.index.Arg(call, kParam);
    if (!sampler || !YieldsIndices(context, sampler)) continue;
    const ir::ModuleId module_id = context.program.funcs[call.function].module;
    const ir::Module& module = context.program.modules[module_id];
    const ir::ExprId written = context.index.ArgExpr(call, kParam);
    const objects::Site site{call.function, written ? written : call.expr};
    Finding finding = FindingAt(context, kAR310, Severity::Error, Confidence::Likely, site,
                                {"this sampler yields single indices, but `batch_sampler` wants lists of them: the loader fails in its "
                                 "first batch",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"yields one index at a time", {}});
    for (const objects::Site& made : context.loading.MadeAt(sampler)) {
      AddLabel(finding, SpanOf(context, made), LabelRole::Why, {"made here", {}});
      break;
    }
    finding.help = {"pass it as `sampler`, with `batch_size`", {}};
    if (written) {
      const source::Span whole = ArgumentSpan(context, module_id, call.expr, written);
      const bool has_keyword = whole.begin < module[written].begin;
      if (has_keyword) {
        finding.fixes.push_back(MakeFix("pass it as `sampler`", Applicability::Safe,
                                        {Replace(whole, "sampler=" + std::string(TextOf(context, module_id, written)))}));
      }
    }
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule SamplerAsBatchSampler = {
    .code = kAR310,
    .name = "sampler-as-batch-sampler",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "Python",
    .summary = "sampler of single indices given to a loader as `batch_sampler`",
    .explanation = R"md(
## What it finds

A `DataLoader` whose `batch_sampler` is a sampler that yields single indices (`DistributedSampler`,
`RandomSampler` and their kin), also by way of a dictionary of options.

## Why it hurts

A loader asks its batch sampler for the list of indices of a batch and gets a number:
`TypeError: 'int' object is not iterable`, on every rank. As the distributed branch is often the one
that nobody runs at home, it is found when the job starts.

## Wrong

```python
loader = DataLoader(dataset, batch_sampler=DistributedSampler(dataset))
```

## Right

```python
loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset))
```

## When it is silent

* The sampler's class is one of the project: what it yields is its own business.
* It is a `BatchSampler`, or may be one on some path.

## Fix

`--fix` passes it as `sampler`.

## Proof

There is nothing to replay: every rank raises alike.
)md",
    .check = CheckSamplerAsBatchSampler,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
