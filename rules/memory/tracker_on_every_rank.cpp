#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/objects/job_runs.h"
#include "analyzer/objects/rank_words.h"
#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;

constexpr std::string_view kAR809 = "AR809";

class Trackers {
 public:
  Trackers(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), runs_(context.program, context.knowledge, context.facts, context.index, context.launch, context.loading) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (call.entry->Has(knowledge::Role::OpenTracker)) Visit(call);
    }
  }

 private:
  void Visit(const KnownCall& call) {
    const Site site{call.function, call.expr};
    if (!runs_.IsRunByRanks(site) || runs_.IsInTurn({&site, 1}) || TellsRanksApart(call)) return;
    const traces::World world = objects::SmallJob(context_.facts.job);
    const traces::RankSet ranks = context_.ranks.At(site, world);
    const bool all = ranks == traces::RankSet::All(world.size());
    const bool one_a_node = ranks.count() == world.nodes && ranks.has(0) && ranks.has(world.per_node);
    const source::Span span = SpanOf(context_, site);
    const std::optional<bool> is_shared = IsUsedByAll(site);
    if ((!all && !one_a_node) || is_shared == false || !reported_.insert({span.file.index, span.begin}).second) return;
    // Who logs to it is not seen.
    const bool is_hidden = !is_shared && context_.values.ClassOf(context_.facts.value(context_.program.funcs[site.function].module, site.expr));
    const bool is_sure = runs_.IsSharedWork({&site, 1}) && !is_hidden;
    Finding finding = FindingAt(context_, kAR809, Severity::Warning, is_sure ? Confidence::Likely : Confidence::Possible, site,
                                {"{} opens a log of the run: there is one curve per rank, or all are mixed in one",
                                 {all ? "every rank" : "one rank of each node"}});
    if (!all) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::SeveralNodes));
    AddLabel(finding, finding.span, LabelRole::Primary, {"opened on all of them", {}});
    finding.help = {"open it on rank 0 only, and log the values reduced over the ranks there", {}};
    sink_.push_back(std::move(finding));
  }

  // All open it: whether all put something into it, or some of the ranks alone. None: no use of it is seen.
  std::optional<bool> IsUsedByAll(const Site& opened) const {
    const variation::ValueId tracker = context_.facts.value(context_.program.funcs[opened.function].module, opened.expr);
    bool is_used = false;
    for (uint32_t f = 0; f < context_.program.funcs.size(); ++f) {
      for (const auto& [expr, fact] : context_.facts.functions[binding::FuncId{f}].calls) {
        const Site use{binding::FuncId{f}, expr};
        if (!IsMethodOf(tracker, use)) continue;
        if (AreAllRanksAt(context_, use)) return true;
        is_used = true;
      }
    }
    return is_used ? std::optional(false) : std::nullopt;
  }

  // `writer.add_scalar(...)`; to close it puts nothing in.
  bool IsMethodOf(variation::ValueId tracker, const Site& site) const {
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    if (module[site.expr].kind != ir::ExprKind::Call) return false;
    const ir::Expr& callee = module[ir::CalleeOf(module[site.expr])];
    if (callee.kind != ir::ExprKind::Attribute) return false;
    const std::vector<variation::ValueId> objects = context_.values.Leaves(context_.facts.value(module_id, ir::ObjectOf(callee)));
    const std::string_view method = context_.program.text(ir::AttrOf(callee));
    return method != "close" && method != "flush" && std::ranges::any_of(objects, [&](variation::ValueId object) {
             return context_.values.ClassOf(object) && context_.values.MayBeSame(object, tracker);
           });
  }

  // By a name or folder with the rank in it, a group of runs, `mode="disabled"` on the others.
  bool TellsRanksApart(const KnownCall& call) const {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Expr& expr = module[call.expr];
    for (uint32_t i = 0; i < ir::ArgCount(module, expr); ++i) {
      const ir::Arg arg = ir::ArgAt(module, expr, i);
      const variation::ValueId value = context_.facts.value(module_id, arg.value);
      if (arg.kind == ir::ArgKind::DoubleStar) {
        if (MayTellRanksApart(value)) return true;
        continue;
      }
      const std::string_view keyword = arg.kind == ir::ArgKind::Keyword ? context_.program.text(arg.keyword) : std::string_view();
      if (HasOwnRuns(keyword) || (keyword != "config" && value && Varies(value))) return true;
      if (keyword != "config" && objects::RankWords::IsWord(TextOf(context_, module.span(arg.value)))) return true;
    }
    return false;
  }

  // `wandb.init(**options)`: of options that are not seen any may.
  bool MayTellRanksApart(variation::ValueId options) const {
    if (!options || !context_.facts.values_store[options].is_dict(variation::DictKind::Items)) return true;
    for (const variation::Item item : context_.facts.values_store.ItemsOf(options)) {
      const std::string_view key = context_.values.Str(item.key);
      if (key.empty() || HasOwnRuns(key) || (key != "config" && item.value && Varies(item.value))) return true;
    }
    return false;
  }

  // Options that say how the runs of several processes belong together.
  static bool HasOwnRuns(std::string_view keyword) { return keyword == "group" || keyword == "mode" || keyword == "disabled"; }

  // Each rank's own clock makes as many logs as there are ranks.
  static bool IsApart(knowledge::Axes axes) {
    return !Without(axes, knowledge::kSurroundings).empty();
  }

  bool Varies(variation::ValueId value) const {
    return context_.values.AnyPart(value, [&](variation::ValueId part) { return IsApart(context_.facts.values_store.axes(part)); });
  }

  const Context& context_;
  FindingSink& sink_;
  objects::JobRuns runs_;
  std::set<std::pair<uint32_t, uint32_t>> reported_;
};

void CheckTrackerOnEveryRank(const Context& context, FindingSink& sink) { Trackers(context, sink).Run(); }

}  // namespace

extern const Rule TrackerOnEveryRank = {
    .code = kAR809,
    .name = "tracker-on-every-rank",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview =
        "of 21 findings on public code that were read again after causes were fixed 14 were right",
    .languages = "Python",
    .summary = "log of the run (TensorBoard, W&B, MLflow) that all ranks, or one rank of each node, open",
    .explanation = R"md(
## What it finds

`SummaryWriter(...)`, `wandb.init(...)`, `mlflow.start_run(...)` and what else the knowledge base gives the
role `open_tracker`, that every rank of a job reaches, or one rank of each node does. Who reaches it is
decided as for AR802, on two nodes of two ranks, callers included.

## Why it hurts

Eight ranks make eight runs in W&B and MLflow, of which seven are noise, and which one is rank 0 is not to be
seen. TensorBoard reads all event files of a folder as one run: the curve jumps between the values of the
ranks. What is logged is the loss of each rank's own batches.

## Wrong

```python
dist.init_process_group("nccl")
writer = SummaryWriter("runs/a")
```

## Right

```python
dist.init_process_group("nccl")
writer = SummaryWriter("runs/a") if dist.get_rank() == 0 else None
```

## When it is silent

* A test of the rank, of any form, leaves one: also an early return or a caller's test.
* The name or the folder holds the rank, the runs are put into a `group`, or `mode` is given.
* One process opens it: before the ranks are started, or in a script that starts no job.
* The function's callers are not seen.
* All open it, and what is seen to be put into it is put there by some of the ranks only: the others leave an
  empty file. Where nothing is seen to be put into it, the finding is *possible*.
* Trackers that open on the first rank by themselves: Lightning's loggers, `accelerator.init_trackers`.

## Fix

None: what follows would have to ask for the rank as well.

## Proof

There is nothing to replay: nothing communicates.
)md",
    .check = CheckTrackerOnEveryRank};

}  // namespace allranks::rules
