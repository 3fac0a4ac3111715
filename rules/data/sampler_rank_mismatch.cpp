#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kCode = "AR307";

bool Is(const Context& context, ValueId value, knowledge::Coordinate coordinate) {
  const std::vector<ValueId> leaves = context.values.Leaves(value);
  return !leaves.empty() && std::ranges::all_of(leaves, [&](ValueId leaf) {
    const variation::Value& node = context.facts.values_store[leaf];
    return node.kind == ValueKind::Coordinate && static_cast<knowledge::Coordinate>(node.op) == coordinate &&
           (node.flags & (variation::kOneNode | variation::kByNameOnly)) == 0;
  });
}

// The user says so, or the process group is set up with as many ranks as a node has devices.
bool HasOneNode(const Context& context, ProgramCalls& calls, ir::ModuleId module) {
  if (context.facts.job.nodes == 1) return true;
  const objects::KnownCall* init = calls.FindIf(module, [&](const objects::KnownCall& call) {
    if (call.entry->operation.op_class != knowledge::OpClass::Init || !call.entry->has_operation) return false;
    const ValueId size = context.index.Arg(call, "world_size");
    return size && Is(context, size, knowledge::Coordinate::LocalWorldSize);
  });
  return init != nullptr;
}

void Visit(const Context& context, const objects::KnownCall& call, std::string_view param,
           knowledge::Coordinate wrong, std::string_view what, std::string_view right, FindingSink& sink) {
  const ValueId value = context.index.Arg(call, param);
  const ir::ExprId expr = context.index.ArgExpr(call, param);
  if (!value || !expr || !Is(context, value, wrong)) return;
  const objects::Site site{call.function, expr};
  Finding finding = FindingAt(context, kCode, Severity::Error, Confidence::Likely, site,
                              {"`{}` of the sampler is {}: on two nodes both read the same half of the data",
                               {std::string(param), std::string(what)}});
  AddLabel(finding, finding.span, LabelRole::Primary, {"this must be the value of the whole job", {}});
  AddReasons(context, site, finding);
  finding.help = {"leave it out: the sampler takes it from the process group", {}};
  const ir::ModuleId module = context.program.funcs[call.function].module;
  const std::string text = "torch.distributed." + std::string(right) + "()";
  std::vector<findings::Edit> edits = {Replace(SpanOf(context, site), text)};
  for (findings::Edit& edit : EnsureImport(context, module, "torch", "import torch")) edits.push_back(std::move(edit));
  finding.fixes.push_back(MakeFix("take it from the process group", Applicability::Safe, std::move(edits)));
  sink.push_back(std::move(finding));
}

void Check(const Context& context, FindingSink& sink) {
  ProgramCalls calls(context);
  for (const objects::KnownCall& call : context.loading.made_samplers()) {
    if (HasOneNode(context, calls, context.program.funcs[call.function].module)) continue;
    Visit(context, call, "rank", knowledge::Coordinate::LocalRank, "the rank within its node", "get_rank", sink);
    Visit(context, call, "num_replicas", knowledge::Coordinate::LocalWorldSize, "the number of devices of a node",
          "get_world_size", sink);
  }
}

}  // namespace

extern const Rule SamplerRankMismatch = {
    .code = kCode,
    .name = "sampler-rank-mismatch",
    .severity = Severity::Error,
    .languages = "Python",
    .summary = "`DistributedSampler` that gets the local rank, or the devices of one node, in place of the job's",
    .explanation = R"md(
## What it finds

A `DistributedSampler` whose `rank` is the local rank, or whose `num_replicas` is the number of devices or
processes of one node.

## Why it hurts

The sampler cuts the data set into as many parts as a node has processes, and gives the first process of
every node the same part. On one node that is right. On two, each sample is read twice an epoch, an epoch
is twice as long, and the second node adds nothing. Nothing fails.

## Wrong

```python
sampler = DistributedSampler(dataset, rank=int(os.environ["LOCAL_RANK"]),
                             num_replicas=torch.cuda.device_count())
```

## Right

```python
sampler = DistributedSampler(dataset)
```

## When it is silent

* The process group is set up with as many ranks as the node has devices, or the configuration says
  `world.nodes = 1`: there is one node.
* The index is that of a process which the program starts itself.
* That it is a local rank is known from a name alone.

## Fix

`--fix` puts `torch.distributed.get_rank()` or `get_world_size()` in its place.

## Proof

There is nothing to replay: all ranks make the same number of steps, on the wrong samples.
)md",
    .check = Check,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
