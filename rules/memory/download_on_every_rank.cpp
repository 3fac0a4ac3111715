#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/job_runs.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;

constexpr std::string_view kCode = "AR810";

class Downloads {
 public:
  Downloads(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), runs_(context.program, context.facts, context.index, context.launch, context.loading),
        neighbourhood_(context.program) {}

  void Run() {
    std::vector<const KnownCall*> shared;
    for (const KnownCall& call : context_.index.known_calls()) {
      if (!call.entry->Has(knowledge::Role::Download) || !IsAskedFor(call)) continue;
      const Site site{call.function, call.expr};
      const traces::RankSet ranks = context_.reach.Ranks(site, world_);
      if (ranks == traces::RankSet::All(world_.size())) shared.push_back(&call);
      else fetched_first_.push_back(&call);
    }
    for (const KnownCall* call : shared) Visit(*call);
  }

 private:
  bool IsAskedFor(const KnownCall& call) const {
    const variation::ValueId download = context_.index.Arg(call, "download");
    return download && context_.values.IsTrue(download);
  }

  void Visit(const KnownCall& call) {
    const Site site{call.function, call.expr};
    if (!runs_.IsRunByRanks(site) || runs_.IsInTurn({&site, 1}) || IsFetchedBefore(call)) return;
    const source::Span span = SpanOf(context_, site);
    if (!reported_.insert({span.file.index, span.begin}).second) return;
    Finding finding = FindingAt(context_, kCode, Severity::Info, runs_.IsSharedWork({&site, 1}) ? Confidence::Likely : Confidence::Possible,
                                site, {"every rank downloads into the same folder: in the first run they "
                                       "overwrite each other's files", {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"the same files on all of them", {}});
    finding.help = {"download on rank 0 (on each node's local rank 0 if the disk is not shared), then "
                    "`dist.barrier()`, then read on all ranks", {}};
    sink_.push_back(std::move(finding));
  }

  // One rank, or the process that starts them, fetches this data set already, somewhere in the program.
  bool IsFetchedBefore(const KnownCall& call) const {
    const std::vector<ir::ModuleId> files = neighbourhood_.Of(context_.program.funcs[call.function].module);
    return std::ranges::any_of(fetched_first_, [&](const KnownCall* other) {
      return other->entry == call.entry && std::ranges::count(files, context_.program.funcs[other->function].module) > 0;
    });
  }

  const Context& context_;
  FindingSink& sink_;
  objects::JobRuns runs_;
  binding::Neighbourhood neighbourhood_;
  traces::World world_ = objects::SmallJob(context_.facts.job);
  std::vector<const KnownCall*> fetched_first_;
  std::set<std::pair<uint32_t, uint32_t>> reported_;
};

void Check(const Context& context, FindingSink& sink) { Downloads(context, sink).Run(); }

}  // namespace

extern const Rule DownloadOnEveryRank = {
    .code = kCode,
    .name = "download-on-every-rank",
    .severity = Severity::Info,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "Python",
    .summary = "data set that every rank downloads into one folder",
    .explanation = R"md(
## What it finds

A data set that fetches itself (`CIFAR10(root, download=True)` and what else the knowledge base gives the role
`download`) where all ranks of a job make it.

## Why it hurts

Each rank asks whether the files are there, and in the first run on a machine all of them find nothing: they
write one archive over one another and unpack it at the same time. Some ranks then read half a file, or fail
with `File not found or corrupted`, and the others wait for them. The second run works, so nobody finds out
why.

## Wrong

```python
dist.init_process_group("nccl")
data = CIFAR10("data", download=True)
```

## Right

```python
dist.init_process_group("nccl")
if local_rank == 0:
    CIFAR10("data", download=True)
dist.barrier()
data = CIFAR10("data")
```

## When it is silent

* A rank, or the process that starts the ranks, fetches the same data set somewhere in the program.
* A `with` around it lets one rank go first (`main_process_first`) or holds a lock.
* `download` is false, or not known.
* One process runs the script, or the callers are not seen.

## Fix

None: which rank has the disk is not known.

## Proof

There is nothing to replay: nothing communicates.
)md",
    .check = Check};

}  // namespace allranks::rules
