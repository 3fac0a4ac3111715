#include <algorithm>

#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::LabelRole;
using objects::KnownCall;
using objects::Site;

constexpr std::string_view kAR118 = "AR118";
constexpr std::string_view kReturn = "return";
constexpr std::string_view kConstructor = ".__init__";

// What all ranks have together is what the call returns, and its argument stays what it was.
bool OnlyReturns(const Context& context, const knowledge::Entry& entry) {
  if (!entry.has_operation || entry.operation.op_class != knowledge::OpClass::Collective || !entry.operation.tensor_param) return false;
  const auto makes = [&](std::string_view what) {
    return std::ranges::any_of(entry.makes_uniform, [&](base::NameId name) { return context.program.text(name) == what; });
  };
  return makes(kReturn) && !makes(context.program.text(entry.operation.tensor_param));
}

// `all_reduce(x)` as a statement. A cell of a notebook shows the value of its last line.
bool IsDropped(const Context& context, const KnownCall& call) {
  const ir::ModuleId module_id = context.program.funcs[call.function].module;
  const ir::Module& module = context.program.modules[module_id];
  if (module.language != ir::Language::Python || context.program.infos[module_id].path.ends_with(".ipynb")) return false;
  const ir::StmtId stmt = context.index.StatementOf({call.function, call.expr});
  return stmt && module[stmt].kind == ir::StmtKind::Expr && ir::ValueOf(module[stmt]) == call.expr;
}

// What one rank hands to all it has itself: a part of the ranks that comes here alone may be that one.
bool IsOnItsRoot(const Context& context, const KnownCall& call) {
  return call.entry->operation.root_param && !AreAllRanksAt(context, {call.function, call.expr});
}

// `DDP(model)`: the model itself stays as it was.
bool MakesWrapper(const Context& context, const KnownCall& call) {
  if (!context.program.text(call.entry->name).ends_with(kConstructor)) return false;
  const variation::ValueId made = context.facts.value(context.program.funcs[call.function].module, call.expr);
  const knowledge::ClassId known = made ? context.values.ClassOf(made) : knowledge::ClassId();
  return known && context.knowledge[known].strategy;
}

void ReportWrapper(const Context& context, const KnownCall& call, FindingSink& sink) {
  std::string_view name = context.program.text(call.entry->name);
  name.remove_suffix(kConstructor.size());
  findings::Finding finding = FindingAt(context, kAR118, Severity::Error, Confidence::Likely, {call.function, call.expr},
                                        {"nothing takes the wrapper that `{}` makes: the model stays bare, and its gradients are not reduced", {std::string(name)}});
  AddLabel(finding, finding.span, LabelRole::Primary, {"the wrapper is lost", {}});
  finding.help = {"assign the wrapper, and train with that", {}};
  sink.push_back(std::move(finding));
}

void CheckDroppedResult(const Context& context, FindingSink& sink) {
  for (const KnownCall& call : context.index.known_calls()) {
    if (!IsDropped(context, call) || context.launch.Of(call.function) == objects::RunBy::Tests) continue;
    if (MakesWrapper(context, call)) ReportWrapper(context, call, sink);
    if (!OnlyReturns(context, *call.entry) || IsOnItsRoot(context, call)) continue;
    const Site site{call.function, call.expr};
    const std::string name(context.program.text(call.entry->name));
    findings::Finding finding = FindingAt(context, kAR118, Severity::Error, Confidence::Likely, site,
                                          {"nothing takes the result of `{}`: the argument stays as it was, and what the ranks have together is lost", {name}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"the result is lost", {}});
    finding.help = {"assign the result, and go on with that", {}};
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule DroppedResult = {
    .code = kAR118,
    .name = "dropped-result",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "Python",
    .summary = "collective that returns its result, called as if it changed its argument",
    .explanation = R"md(
## What it finds

A collective that gives its result back and leaves its argument alone, called as a statement of its own:
`torch.distributed.nn.all_reduce`, the functional collectives of PyTorch, `horovod.torch.allreduce`,
`Accelerator.gather` and `reduce`, `Fabric.all_reduce`, mpi4py's `allreduce` and `bcast`. And a wrapper that
is made and taken by nobody: `DDP(model)` as a statement.

## Why it hurts

`torch.distributed.all_reduce` works in place, and its namesakes do not. The ranks meet, wait for each
other, and each goes on with what it had before: a loss, a count or a statistic of one rank's share,
scaled as if it were that of all. Nothing fails, and nothing tells.

## Wrong

```python
import torch.distributed.nn as dist_nn

dist_nn.all_reduce(statistic)
loss = statistic / world_size
```

## Right

```python
import torch.distributed.nn as dist_nn

statistic = dist_nn.all_reduce(statistic)
loss = statistic / world_size
```

## When it is silent

* The result is assigned, returned, passed on or asked for.
* Only some ranks come to a call with a root, such as mpi4py's `bcast`: the root has what it sends.
* The function changes its argument as well, as `torch.distributed.all_reduce`, `allreduce_` of Horovod
  and mpi4py's `Allreduce` do.
* Tests, and notebooks, which show what a line returns.

## Fix

Take the result. Where no gradient has to flow through it, `torch.distributed.all_reduce` changes the
tensor in place.

## Proof

None: no rank waits, the numbers are wrong. Print the argument on each rank before and after the call: it
is the same.
)md",
    .check = CheckDroppedResult};

}  // namespace allranks::rules
