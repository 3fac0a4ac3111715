
#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;

constexpr std::string_view kCode = "AR603";

bool IsFull(const Context& context, const objects::KnownCall& call) {
  const ir::ExprId type = context.index.ArgExpr(call, "state_dict_type");
  const ir::ModuleId module = context.program.funcs[call.function].module;
  return type && TextOf(context, module, type).ends_with("FULL_STATE_DICT");
}

bool IsOff(const Context& context, ValueId config, std::string_view param) {
  const ValueId value = context.values.MadeWith(config, param);
  return !value || context.values.IsFalse(value);
}

// Nothing is gathered where a state dict is only loaded.
bool OnlyLoads(const Context& context, const objects::KnownCall& call) {
  const ir::ModuleId module_id = context.program.funcs[call.function].module;
  const ir::StmtId stmt = context.index.StatementOf({call.function, call.expr});
  const ir::Module& module = context.program.modules[module_id];
  if (!stmt || module[stmt].kind != ir::StmtKind::With) return false;
  const std::string_view text = TextOf(context, module.span(stmt));
  return text.find(".state_dict(") == std::string_view::npos;
}

void Check(const Context& context, FindingSink& sink) {
  for (const objects::KnownCall& call : context.index.known_calls()) {
    const std::string_view name = context.program.text(call.entry->name);
    if (name != "torch.distributed.fsdp.FullyShardedDataParallel.state_dict_type") continue;
    if (!IsFull(context, call) || OnlyLoads(context, call)) continue;
    const ValueId config = context.index.Arg(call, "state_dict_config");
    const bool is_default = !config || context.values.IsNone(config);
    const bool is_known = config && context.values.IsA(config, "torch.distributed.fsdp.FullStateDictConfig");
    if (!is_default && !(is_known && (IsOff(context, config, "rank0_only") || IsOff(context, config, "offload_to_cpu")))) {
      continue;
    }
    const objects::Site site{call.function, call.expr};
    Finding finding = FindingAt(context, kCode, Severity::Error, Confidence::Likely, site,
                                {"the whole model is gathered on {}: it needs the memory that sharding was to save",
                                 {is_known && !IsOff(context, config, "rank0_only") ? "the device of rank 0"
                                                                                     : "every rank"}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"neither `rank0_only` and `offload_to_cpu`, nor shards", {}});
    finding.help = {"pass `FullStateDictConfig(offload_to_cpu=True, rank0_only=True)`, or save shards", {}};
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule FullStateDictEverywhere = {
    .code = kCode,
    .name = "full-state-dict-everywhere",
    .severity = Severity::Error,
    .languages = "Python",
    .summary = "full state dict of a sharded model that is gathered on the device of every rank",
    .explanation = R"md(
## What it finds

`FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT)` without a `FullStateDictConfig` that sets both
`offload_to_cpu` and `rank0_only`, around code that takes a state dict.

## Why it hurts

All ranks gather all parameters and keep them: on the device without `offload_to_cpu`, in as many copies as a
node has ranks without `rank0_only`. A model that is sharded because it does not fit does not fit now, and
the job ends with `CUDA out of memory` (or the node runs out of host memory) when the first checkpoint
is written.

## Wrong

```python
with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT):
    state = model.state_dict()
```

## Right

```python
config = FullStateDictConfig(offload_to_cpu=True, rank0_only=True)
with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT, config):
    state = model.state_dict()
```

## When it is silent

* The configuration sets both, or is not known.
* Only `load_state_dict` is called inside.
* Shards or local state dicts are taken.

## Fix

Pass the configuration, and use the state on rank 0 only; or write shards with
`torch.distributed.checkpoint`. Whether other ranks use the state dict is not known, so there is no
automatic fix.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = Check};

}  // namespace allranks::rules
