#include <algorithm>

#include "analyzer/objects/two_arms.h"
#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;

constexpr std::string_view kAR606 = "AR606";

// The iterable of the loop that gives a variable its values, as written: `model.layers` of `for layer in model.layers`.
std::string_view IterableOf(const Context& context, const Site& name) {
  const ir::ModuleId module_id = context.program.funcs[name.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const ir::Tree& tree = context.index.tree(module_id);
  for (ir::StmtId at = tree.StatementOf(name.expr); at; at = tree.Parent(at)) {
    if (module[at].kind != ir::StmtKind::For) continue;
    const std::string_view target = TextOf(context, module_id, ir::ValueOf(module[at]));
    if (target.find(TextOf(context, module_id, name.expr)) != std::string_view::npos) return TextOf(context, module_id, ir::AssignedOf(module[at]));
  }
  return {};
}

// `model.layers[0]`, or a variable that walks over `model.layers`, or over the model itself.
bool IsPartOf(const Context& context, const Site& part, std::string_view root) {
  const ir::ModuleId module_id = context.program.funcs[part.function].module;
  const std::string prefix = std::string(root) + ".";
  const std::string_view walked = IterableOf(context, part);
  return TextOf(context, module_id, part.expr).starts_with(prefix) || walked == root || walked.find(prefix) != std::string_view::npos;
}

void VisitRoot(const Context& context, const KnownCall& root, FindingSink& sink) {
  const ir::ExprId model = context.index.ArgExpr(root, "module");
  const ir::ModuleId module_id = context.program.funcs[root.function].module;
  const ir::Module& module = context.program.modules[module_id];
  if (!model || module[model].kind != ir::ExprKind::Name) return;
  for (const KnownCall& child : context.index.known_calls()) {
    if (child.function != root.function || child.entry != root.entry || module[child.expr].begin < module[root.expr].end) continue;
    const ir::ExprId part = context.index.ArgExpr(child, "module");
    if (!part || !IsPartOf(context, {child.function, part}, TextOf(context, module_id, model))) continue;
    // No run comes by both.
    if (objects::AreInTwoArms(context.program, context.index, {root.function, root.expr}, {child.function, child.expr})) continue;
    Finding finding = FindingAt(context, kAR606, Severity::Error, Confidence::Likely, Site{root.function, root.expr},
                                {"`{}` is sharded before its parts: all parameters are already in one unit, and nothing is left for `{}`",
                                 {Quoted(context, {root.function, model}), Quoted(context, {child.function, part})}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"takes every parameter that is in no unit yet", {}});
    AddLabel(finding, SpanOf(context, {child.function, child.expr}), LabelRole::Why, {"comes too late", {}});
    finding.help = {"call `fully_shard` on the layers first, and on the model last", {}};
    sink.push_back(std::move(finding));
    return;
  }
}

void CheckShardingOrder(const Context& context, FindingSink& sink) {
  for (const KnownCall& call : context.index.known_calls()) {
    const std::string_view name = context.program.text(call.entry->name);
    if (name == "torch.distributed.fsdp.fully_shard") VisitRoot(context, call, sink);
  }
}

}  // namespace

extern const Rule ShardingOrder = {
    .code = kAR606,
    .name = "sharding-order",
    .severity = Severity::Error,
    .languages = "Python",
    .summary = "model sharded before its layers",
    .explanation = R"md(
## What it finds

`fully_shard` on a model and then, in the same function, on its layers.

## Why it hurts

`fully_shard` makes one unit of all parameters that are not in a unit yet. If it is called on the model first,
it takes all of them: the whole model is gathered for each forward, as without sharding, and the calls for the
layers find nothing left.

## Wrong

```python
fully_shard(model)
for layer in model.layers:
    fully_shard(layer)
```

## Right

```python
for layer in model.layers:
    fully_shard(layer)
fully_shard(model)
```

## When it is silent

* The layers come first, or are in another branch.
* The two calls are in different functions.
* A model goes through `torch.compile` before DDP wraps it. Nothing is compiled before the first forward,
  which is that of the wrapper, and there the compiler splits its graphs at the buckets in either order
  (seen with PyTorch 2.15).

## Fix

There is none: the code in between may matter.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckShardingOrder};

}  // namespace allranks::rules
