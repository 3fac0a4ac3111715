#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;

constexpr std::string_view kAR607 = "AR607";

void CheckShardingStrategy(const Context& context, FindingSink& sink) {
  for (const KnownCall& call : context.index.known_calls()) {
    if (context.program.text(call.entry->name) != "torch.distributed.fsdp.FullyShardedDataParallel.__init__") continue;
    const ir::ModuleId module = context.program.funcs[call.function].module;
    const ir::ExprId strategy = context.index.ArgExpr(call, "sharding_strategy");
    const bool shards_nothing = strategy && TextOf(context, module, strategy).ends_with("NO_SHARD");
    Finding finding = FindingAt(context, kAR607, Severity::Info, Confidence::Likely, Site{call.function, shards_nothing ? strategy : call.expr},
                                {shards_nothing ? "`NO_SHARD` is deprecated: it shards nothing, and DDP does the same at less cost"
                                                : "the first generation of FSDP is deprecated: `fully_shard` "
                                                  "replaces it, and keeps the parameters of each layer as they are",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {shards_nothing ? "the same as DDP" : "flattens parameters into one", {}});
    finding.help = {shards_nothing ? "use DistributedDataParallel" : "call `torch.distributed.fsdp.fully_shard` "
                                                                     "on the layers, then on the model", {}};
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule ShardingStrategy = {
    .code = kAR607,
    .name = "sharding-strategy",
    .severity = Severity::Info,
    .on_by_default = false,
    .languages = "Python",
    .summary = "deprecated ways to shard: FSDP1, `NO_SHARD`",
    .explanation = R"md(
## What it finds

`FullyShardedDataParallel(...)`, the first generation of FSDP, and its strategy `NO_SHARD`.

## Why it hurts

PyTorch develops only `fully_shard`. FSDP1 flattens the parameters of a unit into one tensor: a unit cannot
mix frozen and trained parameters, optimizers see a single parameter, and clipping gradients needs a separate
method. `NO_SHARD` keeps whole copies, as DDP does, and is slower.

## Wrong

```python
model = FSDP(model, sharding_strategy=ShardingStrategy.NO_SHARD)
```

## Right

```python
for layer in model.layers:
    fully_shard(layer)
fully_shard(model)
```

## When it is silent

* `fully_shard` is used.

The rule is advice, and off by default: `--select AR607` turns it on. It does not judge whether full sharding
across slow links or sharding within a node is faster: that depends on the machine, which the code does not
show.

## Fix

There is none: checkpoints and optimizers have to be changed too.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckShardingStrategy};

}  // namespace allranks::rules
