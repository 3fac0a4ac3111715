#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using knowledge::Coordinate;
using variation::ValueId;

constexpr std::string_view kAR205 = "AR205";

// The rank of a process that the program started itself, on this machine.
bool IsOfOneNode(const Context& context, ValueId rank) {
  return context.facts.job.nodes == 1 || context.values.HasFlag(rank, variation::kOneNode);
}

void VisitGroupOfNode(const Context& context, const objects::KnownCall& init, FindingSink& sink) {
  const ValueId size = context.index.Arg(init, "world_size");
  const ValueId rank = context.index.Arg(init, "rank");
  if (!size || !context.values.Is(size, Coordinate::LocalWorldSize) || !rank || IsOfOneNode(context, rank)) return;
  const bool is_global = context.values.Is(rank, Coordinate::Rank);
  const bool is_local = context.values.Is(rank, Coordinate::LocalRank);
  if (!is_global && !is_local) return;
  const objects::Site site{init.function, context.index.ArgExpr(init, "world_size")};
  // On one node the number is right as long as all of its devices are used.
  const bool is_shown_on_one = context.launch.IsOnOneNode(context.program.funcs[init.function].module);
  Finding finding = FindingAt(
      context, kAR205, Severity::Error, is_shown_on_one ? Confidence::Possible : Confidence::Likely, site,
      {"the number of this node's devices is used as the number of ranks{}",
       {is_local ? ", and the local rank as the rank: on two nodes this makes two jobs of the same name, which never meet"
                 : ": on two nodes half of the ranks do not fit into the group, and all ranks hang in the rendezvous"}});
  AddLabel(finding, finding.span, LabelRole::Primary, {"counts all devices of this node only, used or not", {}});
  AddLabel(finding, SpanOf(context, {init.function, context.index.ArgExpr(init, "rank")}), LabelRole::Note,
           {is_local ? "counts within the node" : "counts over all nodes", {}});
  finding.help = {"leave both out: `init_process_group` reads `RANK` and `WORLD_SIZE`, which the launcher sets", {}};
  sink.push_back(std::move(finding));
}

void CheckWorldSizeFromDeviceCount(const Context& context, FindingSink& sink) {
  for (const objects::KnownCall& call : context.index.known_calls()) {
    if (context.program.text(call.entry->name) == "torch.distributed.init_process_group") VisitGroupOfNode(context, call, sink);
  }
}

}  // namespace

extern const Rule WorldSizeFromDeviceCount = {
    .code = kAR205,
    .name = "world-size-from-device-count",
    .severity = Severity::Error,
    .languages = "Python",
    .summary = "number of devices of one node used as the number of ranks of the job",
    .explanation = R"md(
## What it finds

`init_process_group(world_size=torch.cuda.device_count())` in a process that a launcher started: its rank
comes from the environment.

## Why it hurts

`device_count()` gives the number of devices of one machine. With two nodes, or with fewer processes than
devices, the number is wrong: `init_process_group` waits for ranks that never come and ends after its timeout,
without naming the cause. Or two jobs of eight ranks train side by side, each on all of the data.

## Wrong

```python
dist.init_process_group("nccl", rank=int(os.environ["LOCAL_RANK"]), world_size=torch.cuda.device_count())
```

## Right

```python
dist.init_process_group("nccl")
```

## When it is silent

* The program starts the processes itself, one per device (`mp.spawn`).
* The number comes from the environment, an argument, or is multiplied by the number of nodes.

If the project's scripts and pages start the program, and all of them on one node, the finding is shown only
with `--min-confidence possible`.

## Fix

There is none: the code does not show what launches the program.

## Proof

There is nothing to replay: the group is never created.
)md",
    .check = CheckWorldSizeFromDeviceCount};

}  // namespace allranks::rules
