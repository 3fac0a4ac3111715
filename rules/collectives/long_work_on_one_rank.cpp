#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/meetings.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::LoaderLoop;
using objects::Site;

constexpr std::string_view kAR117 = "AR117";

class LongWorks {
 public:
  LongWorks(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), neighbourhood_(context.program),
        meetings_(context.program, context.knowledge, context.facts, context.index, context.guards, context.ranks, context.launch, world_) {}

  void Run() {
    for (const LoaderLoop& loop : context_.loading.loops()) {
      if (IsPass(loop)) Visit(loop.iterable, "goes over the data alone");
    }
    for (const KnownCall& call : context_.index.known_calls()) {
      if (call.entry->Has(knowledge::Role::LongWork)) Visit({call.function, call.expr}, "does this alone");
    }
  }

 private:
  // Over all of a loader, for something else than training.
  bool IsPass(const LoaderLoop& loop) const {
    const ir::ModuleId module_id = context_.program.funcs[loop.iterable.function].module;
    if (loop.by_next || loop.is_endless) return false;
    return !loop.hands_on && !context_.training.TrainsOn(loop) && !IsLeftEarly(module_id, loop.loop) && !IsOverBatch(loop);
  }

  // In a loop over the same loader: over parts of what it yields.
  bool IsOverBatch(const LoaderLoop& loop) const {
    const std::vector<ir::StmtId> around = context_.index.LoopsAround(loop.iterable);
    return std::ranges::any_of(context_.loading.loops(), [&](const LoaderLoop& other) {
      return other.iterable.function == loop.iterable.function && other.loader == loop.loader && other.loop != loop.loop &&
             std::ranges::count(around, other.loop) > 0;
    });
  }

  bool IsLeftEarly(ir::ModuleId module_id, ir::StmtId loop) const {
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::StmtId stmt{i};
      const bool leaves = module[stmt].kind == ir::StmtKind::Break || module[stmt].kind == ir::StmtKind::Return;
      if (leaves && context_.index.tree(module_id).Holds(loop, stmt)) return true;
    }
    return false;
  }

  void Visit(const Site& site, std::string_view what) {
    if (HasTimeout(site)) return;
    const std::optional<objects::Meeting> meeting = meetings_.After(site);
    const source::Span span = SpanOf(context_, site);
    if (!meeting || !reported_.insert({span.file.index, span.begin}).second) return;
    Finding finding = FindingAt(context_, kAR117, Severity::Warning, Confidence::Likely, site,
                                {"{} {}, and the others wait for it: if that is longer than the timeout of their group, the job ends",
                                 {meeting->on_way == traces::RankSet::Of(0) ? "rank 0" : "one rank", std::string(what)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"on some ranks only", {}});
    if (meeting->parted.expr != site.expr) AddLabel(finding, SpanOf(context_, meeting->parted), LabelRole::Call, {"called here", {}});
    const ir::ModuleId waiting = context_.program.funcs[meeting->function].module;
    AddLabel(finding, HeadOf(context_, waiting, meeting->stmt), LabelRole::Victim, {"the other ranks wait here meanwhile", {}});
    finding.help = {"share the work among the ranks and reduce the results, or pass `timeout` to `init_process_group`", {}};
    sink_.push_back(std::move(finding));
  }

  // The program says itself how long ranks wait.
  bool HasTimeout(const Site& site) {
    const std::vector<ir::ModuleId> files = neighbourhood_.Of(context_.program.funcs[site.function].module);
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      if (std::ranges::count(files, context_.program.funcs[call.function].module) == 0) return false;
      return std::ranges::any_of(call.entry->roles, [&](const knowledge::RoleOf& role) {
        return role.role == knowledge::Role::GroupTimeout && context_.index.Arg(call, context_.program.text(role.param));
      });
    });
  }

  const Context& context_;
  FindingSink& sink_;
  traces::World world_ = objects::SmallJob(context_.facts.job);
  binding::Neighbourhood neighbourhood_;
  objects::Meetings meetings_;
  std::set<std::pair<uint32_t, uint32_t>> reported_;
};

void CheckLongWorkOnOneRank(const Context& context, FindingSink& sink) { LongWorks(context, sink).Run(); }

}  // namespace

extern const Rule LongWorkOnOneRank = {
    .code = kAR117,
    .name = "long-work-on-one-rank",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = "of the last 12 findings on public code that were read 1 was right: what one rank does alone is mostly done long before the "
               "timeout",
    .languages = "Python",
    .summary = "whole pass over data, or a transfer of a model, on one rank while the others wait in a collective",
    .explanation = R"md(
## What it finds

Work that grows with the data and that some ranks do alone, where the others go on to an
operation of all ranks and wait there: a loop over all of a data loader that does not train,
mostly an evaluation; the preparation of a data set (`Dataset.map`); the download or upload of a
model.

## Why it hurts

While rank 0 evaluates, all other GPUs are idle: of 64 booked ones 63. And they do not wait for
ever. A group has a timeout, 10 minutes with NCCL unless another is passed, and when it is over
the watchdog ends the job with `Watchdog caught collective operation timeout`, on the ranks that
did nothing wrong. It works on the small set it was tried with and fails on the real one, at the
end of the first epoch.

## Wrong

```python
for epoch in range(epochs):
    train_epoch(model, train_loader)      # reduces gradients
    if rank == 0:
        for batch in val_loader:
            scores.append(score(model.module, batch))
```

## Right

```python
val_loader = DataLoader(val_data, sampler=DistributedSampler(val_data, shuffle=False))
for epoch in range(epochs):
    train_epoch(model, train_loader)
    for batch in val_loader:
        total += score(model.module, batch)
    dist.all_reduce(total)
```

## When it is silent

* The ranks that do not work do not meet the others later: the work is the last of the script.
* The program passes a timeout for its group somewhere.
* The loop may be left early, and so goes over a part of the data.
* All ranks do it, each on its share.
* The job is made only afterwards.

## Fix

Give each rank its share and reduce the results. Where one rank must do it, pass a `timeout` to
`init_process_group` that is longer than the work.

## Proof

There is nothing to replay: how long the work takes is not in the code.
)md",
    .check = CheckLongWorkOnOneRank};

}  // namespace allranks::rules
