#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;

constexpr std::string_view kAR603 = "AR603";

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

// What is gathered is written by rank 0, so that the others need none of it.
bool IsWrittenByFirstRank(const Context& context, FuncId function) {
  return std::ranges::any_of(context.index.known_calls(), [&](const objects::KnownCall& call) {
    if (call.function != function || !call.entry->Has(knowledge::Role::Write)) return false;
    const traces::RankSet ranks = context.ranks.At({call.function, call.expr}, objects::SmallJob(context.facts.job));
    return ranks.count() == 1 && ranks.has(0);
  });
}

// The config that keeps the whole model in the memory of one host.
void AddStateDictFix(const Context& context, const objects::KnownCall& call, ValueId config, Finding& finding) {
  const ir::ModuleId module_id = context.program.funcs[call.function].module;
  const ir::ExprId written = context.index.ArgExpr(call, "state_dict_config");
  if (config && !context.values.IsNone(config)) return;
  constexpr std::string_view kConfig = "FullStateDictConfig(offload_to_cpu=True, rank0_only=True)";
  std::vector<findings::Edit> edits = {
      written ? Replace(context.program.modules[module_id].span(written), std::string(kConfig))
              : AddArgument(context, module_id, call.expr, "state_dict_config=" + std::string(kConfig))};
  for (findings::Edit& edit : EnsureImport(context, module_id, "FullStateDictConfig",
                                           "from torch.distributed.fsdp import FullStateDictConfig")) {
    edits.push_back(std::move(edit));
  }
  finding.fixes.push_back(MakeFix("gather on rank 0 only, in host memory",
                                  IsWrittenByFirstRank(context, call.function) ? Applicability::Safe : Applicability::Unsafe,
                                  std::move(edits)));
}

void CheckFullStateDictEverywhere(const Context& context, FindingSink& sink) {
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
    // `if world_size == 1`: no job of several ranks comes here.
    if (context.ranks.At(site, objects::SmallJob(context.facts.job)).empty()) continue;
    Finding finding = FindingAt(context, kAR603, Severity::Error, Confidence::Likely, site,
                                {"the whole model is gathered on {}: it needs the memory that sharding was meant to save",
                                 {is_known && !IsOff(context, config, "rank0_only") ? "the device of rank 0"
                                                                                     : "every rank"}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"neither `rank0_only` and `offload_to_cpu`, nor shards", {}});
    finding.help = {"pass `FullStateDictConfig(offload_to_cpu=True, rank0_only=True)`, or save shards", {}};
    AddStateDictFix(context, call, config, finding);
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule FullStateDictEverywhere = {
    .code = kAR603,
    .name = "full-state-dict-everywhere",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "full state dict of a sharded model that is gathered on the device of every rank",
    .explanation = R"md(
## What it finds

`FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT)` without a `FullStateDictConfig` that sets both
`offload_to_cpu` and `rank0_only`, around code that takes a state dict.

## Why it hurts

All ranks gather all parameters and keep them: on the device without `offload_to_cpu`, and without
`rank0_only` in as many copies as a node has ranks. A model that is sharded because it does not fit now has to
fit. The job ends with `CUDA out of memory` (or the node runs out of host memory) at the first checkpoint.

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

`--fix` passes such a configuration if none is given and the function writes on rank 0 only. If the
other ranks may use what they gathered, `--unsafe-fixes` does so. For large models it is better to save shards
with `torch.distributed.checkpoint`.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckFullStateDictEverywhere,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
