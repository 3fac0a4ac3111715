#include <algorithm>

#include "analyzer/objects/one_node.h"
#include "analyzer/objects/several_nodes.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;

constexpr std::string_view kAR307 = "AR307";

// Some file of the program makes a job, or a framework does: processes that never communicate are no ranks of one job.
bool MakesJob(const Context& context, ProgramCalls& calls, ir::ModuleId module) {
  constexpr std::string_view kFrameworks[] = {"accelerate.", "lightning", "deepspeed.", "transformers.Train", "ray.", "mmengine.", "megatron.", "horovod."};
  return calls.FindIf(module, [&](const objects::KnownCall& call) {
    const std::string_view name = context.program.text(call.entry->name);
    const bool communicates = call.entry->has_operation && context.program.text(call.entry->operation.kind) != "generate";
    return communicates || std::ranges::any_of(kFrameworks, [&](std::string_view prefix) { return name.starts_with(prefix); });
  }) != nullptr;
}

// An argument of a sampler that holds for one node in place of the job.
struct Argument {
  std::string_view name;
  std::string_view what;
  std::string_view right;   // the function that returns the job's
  ir::ExprId expr;          // none: it is not given, or is right
};

Argument ArgumentOf(const Context& context, const objects::KnownCall& call, std::string_view name, knowledge::Coordinate wrong,
                    std::string_view what, std::string_view right) {
  const ValueId value = context.index.Arg(call, name);
  const bool is_wrong = value && context.values.Is(value, wrong);
  return {name, what, right, is_wrong ? context.index.ArgExpr(call, name) : ir::ExprId::None()};
}

// Which samples two nodes read.
std::string_view Harm(const Argument& rank, const Argument& replicas, bool takes_rank_of_job) {
  if (rank.expr && replicas.expr) return "on two nodes each reads all of the data";
  if (rank.expr) return "on two nodes half of the data is read twice, the rest never";
  return takes_rank_of_job ? "on the second node the rank is out of range" : "on two nodes the data is cut as if there were one";
}

void AddEdits(const Context& context, const objects::KnownCall& call, const Argument& argument, std::vector<findings::Edit>* edits) {
  if (!argument.expr) return;
  const std::string text = "torch.distributed." + std::string(argument.right) + "()";
  edits->push_back(Replace(SpanOf(context, {call.function, argument.expr}), text));
}

void VisitSampler(const Context& context, const objects::KnownCall& call, const objects::SeveralNodes& several_nodes, FindingSink& sink) {
  const Argument rank = ArgumentOf(context, call, "rank", knowledge::Coordinate::LocalRank, "the rank within its node", "get_rank");
  const Argument replicas = ArgumentOf(context, call, "num_replicas", knowledge::Coordinate::LocalWorldSize,
                                       "the number of devices of a node", "get_world_size");
  if (!rank.expr && !replicas.expr) return;
  const ValueId given = context.index.Arg(call, "rank");
  const bool takes_rank_of_job = !given || context.values.IsNone(given) || context.values.Is(given, knowledge::Coordinate::Rank);
  const Argument& first = rank.expr ? rank : replicas;
  const objects::Site site{call.function, first.expr};
  const bool has_several_nodes = several_nodes.Has(context.program.funcs[call.function].module);
  Finding finding = FindingAt(context, kAR307, Severity::Error, has_several_nodes ? Confidence::Likely : Confidence::Possible, site,
                              {"`{}` of the sampler is {}: {}",
                               {std::string(first.name), std::string(first.what), std::string(Harm(rank, replicas, takes_rank_of_job))}});
  AddLabel(finding, finding.span, LabelRole::Primary, {"this must be the value of the whole job", {}});
  if (rank.expr && replicas.expr) AddLabel(finding, SpanOf(context, {call.function, replicas.expr}), LabelRole::Why, {"and this", {}});
  AddReasons(context, site, finding);
  finding.help = {"leave it out: the sampler takes it from the process group", {}};
  std::vector<findings::Edit> edits;
  AddEdits(context, call, rank, &edits);
  AddEdits(context, call, replicas, &edits);
  const ir::ModuleId module = context.program.funcs[call.function].module;
  for (findings::Edit& edit : EnsureImport(context, module, "torch", "import torch")) edits.push_back(std::move(edit));
  finding.fixes.push_back(MakeFix("take it from the process group", Applicability::Safe, std::move(edits)));
  sink.push_back(std::move(finding));
}

void CheckSamplerRankMismatch(const Context& context, FindingSink& sink) {
  if (context.facts.job.nodes == 1 || context.loading.made_samplers().empty()) return;
  ProgramCalls calls(context);
  const objects::OneNodeJobs one_node(context.program, context.knowledge, context.facts, context.index);
  const objects::SeveralNodes several_nodes(context.program, context.knowledge, context.facts, context.launch);
  for (const objects::KnownCall& call : context.loading.made_samplers()) {
    const ir::ModuleId module = context.program.funcs[call.function].module;
    if (!one_node.Has(module) && MakesJob(context, calls, module)) VisitSampler(context, call, several_nodes, sink);
  }
}

}  // namespace

extern const Rule SamplerRankMismatch = {
    .code = kAR307,
    .name = "sampler-rank-mismatch",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "`DistributedSampler` that gets the local rank, or the devices of one node, in place of the job's",
    .explanation = R"md(
## What it finds

A `DistributedSampler` whose `rank` is the local rank, or whose `num_replicas` is the number of devices or
processes of one node.

## Why it hurts

On one node that is right. On two, with both arguments of one node, each node reads all of the data: an
epoch takes as long as on one node, and the second node adds nothing. With the local rank alone the first
process of every node reads the same part, and other parts are never read. Nothing fails. With the devices of
a node alone, the ranks of the second node are out of range, and the sampler raises `ValueError`.

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

* No file of the program makes a process group, communicates, or uses a framework that does: its
  processes are no ranks of one job.
* The process group is set up with as many ranks as the node has devices, or the configuration says
  `world.nodes = 1`: there is one node.
* The index is that of a process which the program starts itself.
* That it is a local rank is known from a name alone.
* Nothing says that the program is made for several nodes: no command starts it on several, it takes no
  number of nodes, asks for no node rank, reads nothing of Slurm and counts no ranks on a node.
  `--min-confidence possible` shows these.

## Fix

`--fix` puts `torch.distributed.get_rank()` or `get_world_size()` in its place.

## Proof

There is nothing to replay: all ranks make the same number of steps, on the wrong samples.
)md",
    .check = CheckSamplerRankMismatch,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
