#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;

constexpr std::string_view kCode = "AR606";

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

// `model.layers[0]`, or a variable that walks over `model.layers`.
bool IsPartOf(const Context& context, const Site& part, std::string_view root) {
  const ir::ModuleId module_id = context.program.funcs[part.function].module;
  const std::string prefix = std::string(root) + ".";
  return TextOf(context, module_id, part.expr).starts_with(prefix) || IterableOf(context, part).find(prefix) != std::string_view::npos;
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
    Finding finding = FindingAt(context, kCode, Severity::Error, Confidence::Likely, Site{root.function, root.expr},
                                {"`{}` is sharded before its parts: all parameters are already in one unit, and nothing is left for `{}`",
                                 {Quoted(context, {root.function, model}), Quoted(context, {child.function, part})}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"takes every parameter that is in no unit yet", {}});
    AddLabel(finding, SpanOf(context, {child.function, child.expr}), LabelRole::Why, {"comes too late", {}});
    finding.help = {"call `fully_shard` on the layers first, and on the model last", {}};
    sink.push_back(std::move(finding));
    return;
  }
}

// `DDP(torch.compile(model))`.
void VisitCompiled(const Context& context, const KnownCall& wrap, FindingSink& sink) {
  const ir::ExprId model = context.index.ArgExpr(wrap, "module");
  const ir::ModuleId module_id = context.program.funcs[wrap.function].module;
  const ir::Module& module = context.program.modules[module_id];
  if (!model) return;
  ir::ExprId compiled;
  for (const KnownCall& call : context.index.known_calls()) {
    if (call.function != wrap.function || context.program.text(call.entry->name) != "torch.compile") continue;
    // `disable=True` hands the model back as it is.
    if (context.values.IsTrue(context.index.Arg(call, "disable"))) continue;
    const ir::StmtId stmt = context.index.StatementOf({call.function, call.expr});
    const bool is_assigned = stmt && module[stmt].kind == ir::StmtKind::Assign && ir::AssignedOf(module[stmt]) == call.expr &&
                             TextOf(context, module_id, ir::TargetsOf(module, module[stmt])[0]) == TextOf(context, module_id, model);
    if (call.expr == model || (is_assigned && module[call.expr].end < module[wrap.expr].begin)) compiled = call.expr;
  }
  if (!compiled) return;
  Finding finding = FindingAt(context, kCode, Severity::Warning, Confidence::Likely, Site{wrap.function, wrap.expr},
                              {"the model is compiled before DDP wraps it: the compiler does not see the "
                               "buckets and cannot split the graph "
                               "at them, so gradients are reduced only after the whole backward",
                               {}});
  AddLabel(finding, finding.span, LabelRole::Primary, {"wrapped last", {}});
  AddLabel(finding, SpanOf(context, {wrap.function, compiled}), LabelRole::Why, {"compiled here", {}});
  finding.help = {"wrap the model first, then compile the wrapper", {}};
  sink.push_back(std::move(finding));
}

void Check(const Context& context, FindingSink& sink) {
  for (const KnownCall& call : context.index.known_calls()) {
    const std::string_view name = context.program.text(call.entry->name);
    if (name == "torch.distributed.fsdp.fully_shard") VisitRoot(context, call, sink);
    if (name == "torch.nn.parallel.DistributedDataParallel.__init__") VisitCompiled(context, call, sink);
  }
}

}  // namespace

extern const Rule ShardingOrder = {
    .code = kCode,
    .name = "sharding-order",
    .severity = Severity::Error,
    .languages = "Python",
    .summary = "model sharded before its layers, or compiled before DDP wraps it",
    .explanation = R"md(
## What it finds

`fully_shard` of a model, and after it, in the same function, of its layers. And a model that goes through
`torch.compile` before DDP wraps it (a warning).

## Why it hurts

`fully_shard` makes one unit of all parameters that belong to none yet. Called on the model first, it takes
all: the whole model is gathered for each forward, as without sharding, and the calls for the layers find
nothing. DDP reduces a bucket as soon as its gradients are there; a compiled graph gives all of them at its
end unless the compiler knows the buckets, which it does only if it is given the wrapper.

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

* The layers come first.
* Both calls stand in different functions.

## Fix

There is none: what stands in between may matter.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = Check};

}  // namespace allranks::rules
