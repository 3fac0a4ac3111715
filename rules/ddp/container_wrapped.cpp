#include <algorithm>

#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using variation::ValueId;

constexpr std::string_view kAR509 = "AR509";
constexpr std::string_view kWrappers[] = {"torch.nn.parallel.DistributedDataParallel.__init__",
                                          "torch.distributed.fsdp.FullyShardedDataParallel.__init__",
                                          "torch.distributed.fsdp.fully_shard"};
constexpr std::string_view kContainers[] = {"torch.nn.ModuleList", "torch.nn.ModuleDict"};

// The name of the container that a value is on every path; empty if it may be something else.
std::string_view ContainerOf(const Context& context, ValueId value) {
  std::string_view found;
  for (const ValueId leaf : context.values.Leaves(value)) {
    const variation::Value& node = context.facts.values_store[leaf];
    if (node.kind != variation::ValueKind::Object) return {};
    const std::string_view name = context.program.text(node.name());
    if (std::ranges::count(kContainers, name) == 0) return {};
    found = name;
  }
  return found;
}

void CheckContainerWrapped(const Context& context, FindingSink& sink) {
  for (const KnownCall& call : context.index.known_calls()) {
    if (std::ranges::count(kWrappers, context.program.text(call.entry->name)) == 0) continue;
    const std::string_view container = ContainerOf(context, context.index.Arg(call, "module"));
    const ir::ExprId expr = context.index.ArgExpr(call, "module");
    if (container.empty() || !expr) continue;
    const bool is_ddp = context.program.text(call.entry->name) == kWrappers[0];
    Finding finding = FindingAt(context, kAR509, Severity::Error, Confidence::Likely, objects::Site{call.function, call.expr},
                                {"`{}` has no `forward`, so the wrapper has none to run: {}",
                                 {std::string(container),
                                  std::string(is_ddp ? "its parts can only be called around DDP, and their gradients are never reduced"
                                                     : "its parts can only be called around it, and their "
                                                       "parameters are never gathered")}});
    AddLabel(finding, SpanOf(context, {call.function, expr}), LabelRole::Primary, {"a container of modules", {}});
    finding.help = {"wrap each part, or a module that holds them and calls them in its `forward`", {}};
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule ContainerWrapped = {
    .code = kAR509,
    .name = "container-wrapped",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "Python",
    .summary = "`ModuleList` or `ModuleDict` in DDP or FSDP: it has no forward",
    .explanation = R"md(
## What it finds

A `torch.nn.ModuleList` or `torch.nn.ModuleDict` that is wrapped in DDP or FSDP, or passed to `fully_shard`.

## Why it hurts

The wrappers do their work in `forward`: DDP prepares the reduction of gradients there, and FSDP gathers
parameters. A container has no `forward`, so its users call its parts directly, past the wrapper. Under DDP,
every rank then trains a different model, and nothing fails. FSDP fails on parameters without elements.
`fully_shard` fails when it is called.

## Wrong

```python
heads = DDP(torch.nn.ModuleDict({"a": a, "b": b}))
loss = heads.module["a"](x).mean()
```

## Right

```python
heads = {"a": DDP(a), "b": DDP(b)}
loss = heads["a"](x).mean()
```

## When it is silent

* The module may be something else on some path, or its class is one of the project, which has a `forward`.

## Fix

There is none: only the author knows which parts belong together.

## Proof

There is nothing to replay: the collective is missing on every rank.
)md",
    .check = CheckContainerWrapped};

}  // namespace allranks::rules
