#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR304 = "AR304";

class Loader {
 public:
  Loader(const Context& context, const KnownCall& call) : context_(context), call_(call) {}

  void Visit(FindingSink& sink) const {
    const ValueId shuffle = context_.index.Arg(call_, "shuffle");
    const ValueId sampler = context_.index.Arg(call_, "sampler");
    if (!shuffle || !sampler || !MeetOnSomePath(shuffle, sampler)) return;
    Finding finding = FindingAt(
        context_, kAR304, Severity::Error, Confidence::Certain, objects::Site{call_.function, call_.expr},
        {"`shuffle` is true although there is a sampler: the loader raises a `ValueError`{}",
         {IsAlwaysThere(sampler) ? "" : ", in distributed jobs only"}});
    const ir::ModuleId module = context_.program.funcs[call_.function].module;
    const ir::ExprId shuffle_expr = context_.index.ArgExpr(call_, "shuffle");
    const ir::ExprId sampler_expr = context_.index.ArgExpr(call_, "sampler");
    AddLabel(finding, finding.span, LabelRole::Primary, {"both are given", {}});
    AddLabel(finding, SpanOf(context_, {call_.function, sampler_expr}), LabelRole::Why, {"the sampler shuffles by itself", {}});
    finding.help = {"leave the order to the sampler: `shuffle=sampler is None`", {}};
    const std::string text = IsName(module, sampler_expr)
                                 ? std::string(TextOf(context_, module, sampler_expr)) + " is None"
                                 : std::string("False");
    finding.fixes.push_back(MakeFix("shuffle only without a sampler", Applicability::Safe,
                                    {Replace(context_.program.modules[module].span(shuffle_expr), text)}));
    sink.push_back(std::move(finding));
  }

 private:
  bool IsName(ir::ModuleId module, ir::ExprId expr) const {
    return context_.program.modules[module][expr].kind == ir::ExprKind::Name;
  }

  // Both are chosen by one condition, or the choice is left open by a condition on one of them.
  bool MeetOnSomePath(ValueId shuffle, ValueId sampler) const {
    const auto& store = context_.facts.values_store;
    const bool both_chosen = store[shuffle].kind == ValueKind::Select && store[sampler].kind == ValueKind::Select;
    if (both_chosen) {
      const auto left = store.Kids(shuffle);
      const auto right = store.Kids(sampler);
      if (left[0] != right[0]) return false;
      return MeetOnSomePath(left[1], right[1]) || MeetOnSomePath(left[2], right[2]);
    }
    if (!context_.values.IsTrue(shuffle)) return false;
    for (const ValueId leaf : context_.values.Leaves(sampler)) {
      const bool is_sampler = context_.values.IsA(leaf, "torch.utils.data.Sampler");
      if (is_sampler) return true;
    }
    return false;
  }

  bool IsAlwaysThere(ValueId sampler) const {
    return context_.facts.values_store[sampler].kind == ValueKind::Object;
  }

  const Context& context_;
  const KnownCall& call_;
};

void CheckShuffleWithSampler(const Context& context, FindingSink& sink) {
  for (const KnownCall& call : context.loading.made_loaders()) Loader(context, call).Visit(sink);
}

}  // namespace

extern const Rule ShuffleWithSampler = {
    .code = kAR304,
    .name = "shuffle-with-sampler",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = "what it finds raises whenever it is run, so that it stands mostly where nobody runs it: of the last five findings on code that it met for the "
               "first time one was right (docs/precision.md)",
    .languages = "Python",
    .summary = "`shuffle=True` beside a sampler, on a path where the sampler exists",
    .explanation = R"md(
## What it finds

A `DataLoader` that gets `shuffle=True` and a sampler, at least on one path: where the sampler is made
in distributed jobs only, the loader works on one GPU and fails on several.

## Why it hurts

`DataLoader` refuses the pair: `ValueError: sampler option is mutually exclusive with shuffle`. The
path with the sampler is the one that a developer's machine does not take, so the job fails after it
has waited for its nodes.

## Wrong

```python
sampler = DistributedSampler(dataset) if distributed else None
loader = DataLoader(dataset, shuffle=True, sampler=sampler)
```

## Right

```python
sampler = DistributedSampler(dataset) if distributed else None
loader = DataLoader(dataset, shuffle=sampler is None, sampler=sampler)
```

## When it is silent

* `shuffle` is a variable that is false whenever the sampler is set.
* What `shuffle` or the sampler is cannot be told.

## Fix

`--fix` writes `shuffle=sampler is None`, or `shuffle=False` where the sampler is no variable.

## Proof

There is nothing to replay: every rank fails by itself.
)md",
    .check = CheckShuffleWithSampler,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
