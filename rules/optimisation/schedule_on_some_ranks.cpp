#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

using objects::Site;
using variation::ValueId;

constexpr std::string_view kAR414 = "AR414";

class SomeRanksStep {
 public:
  SomeRanksStep(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), world_(objects::SmallJob(context.facts.job)), calls_(context) {}

  void Run() {
    for (uint32_t f = 0; f < context_.program.funcs.size(); ++f) {
      const std::vector<Site> steps = StepsIn(FuncId{f});
      traces::RankSet all;
      for (const Site& step : steps) all = all | RanksAt(step);
      if (steps.empty() || all == traces::RankSet::All(world_.size()) || all.empty() || SetsRates(FuncId{f})) continue;
      if (TrainsOnAllRanks(steps.front())) Report(steps.front(), all);
    }
  }

 private:
  traces::RankSet RanksAt(const Site& site) const { return context_.ranks.At(site, world_); }

  // `scheduler.step()` as a statement of its own: a schedule of noise hands something back.
  std::vector<Site> StepsIn(FuncId function) const {
    std::vector<Site> steps = MethodCalls(context_, function, "step");
    std::erase_if(steps, [&](const Site& step) {
      const ir::ModuleId module_id = context_.program.funcs[function].module;
      const ir::Module& module = context_.program.modules[module_id];
      const ir::StmtId stmt = context_.index.StatementOf(step);
      const bool is_statement = stmt && module[stmt].kind == ir::StmtKind::Expr && ir::ValueOf(module[stmt]) == step.expr;
      return !is_statement || !IsSchedule(context_.facts.value(module_id, ir::ObjectOf(module[ir::CalleeOf(module[step.expr])])));
    });
    return steps;
  }

  // Also one that a framework has wrapped.
  bool IsSchedule(ValueId value) const {
    return value && std::ranges::any_of(context_.values.Leaves(value), [&](ValueId leaf) {
      if (context_.values.IsA(leaf, "torch.optim.lr_scheduler.LRScheduler")) return true;
      const auto kids = context_.facts.values_store.Kids(leaf);
      return context_.values.IsA(leaf, "accelerate.Prepared") && !kids.empty() && kids[0] && IsSchedule(kids[0]);
    });
  }

  // `group["lr"] = rate` beside it, of a rate that ranks may have got from the one that has the schedule.
  bool SetsRates(FuncId function) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (stmt.kind != ir::StmtKind::Assign || context_.index.FunctionOf(module_id, ir::StmtId{i}) != function) continue;
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
        if (module[target].kind != ir::ExprKind::Subscript) continue;
        const ValueId key = context_.facts.value(module_id, ir::RightOf(module[target]));
        if (key && context_.values.Str(key) == "lr") return true;
      }
    }
    return false;
  }

  // Gradients are made on all ranks, and reduced over them: each has the model of the others as long as it steps as they do.
  bool TrainsOnAllRanks(const Site& step) {
    if (context_.launch.Of(step.function) != objects::RunBy::AllRanks) return false;
    const ir::ModuleId module = context_.program.funcs[step.function].module;
    return std::ranges::any_of(context_.training.backwards(), [&](const Site& backward) {
      return context_.training.Reduces(backward.function) && AreAllRanksAt(context_, backward) &&
             calls_.IsOneProgram(module, context_.program.funcs[backward.function].module);
    });
  }

  void Report(const Site& step, traces::RankSet ranks) {
    const bool is_first = ranks.count() == 1 && ranks.has(0);
    Finding finding = FindingAt(context_, kAR414, Severity::Error, Confidence::Likely, step,
                                {"{} alone steps this schedule: its learning rate differs from that of the other ranks from then on, and so do their weights",
                                 {is_first ? "rank 0" : "a part of the ranks"}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"sets the learning rate of this process", {}});
    for (const objects::Guard& guard : context_.guards.Of(step)) {
      const Site test{guard.function, guard.test};
      const ValueId value = context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
      if (!value || !context_.values.TruthAsRankTest(value, world_, 0)) continue;
      AddLabel(finding, SpanOf(context_, test), LabelRole::Why, {"differs between ranks", {}});
      break;
    }
    finding.help = {"step it on every rank, with a value that all ranks have: reduced or broadcast", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  const traces::World world_;
  ProgramCalls calls_;
};

void CheckScheduleOnSomeRanks(const Context& context, FindingSink& sink) { SomeRanksStep(context, sink).Run(); }

}  // namespace

extern const Rule ScheduleOnSomeRanks = {
    .code = kAR414,
    .name = "schedule-on-some-ranks",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = "it is new, and too few of its findings on public code have been read",
    .languages = "Python",
    .summary = "schedule of the learning rate that some ranks step and the others do not",
    .explanation = R"md(
## What it finds

A schedule of `torch.optim.lr_scheduler`, also one that Accelerate prepared, that only rank 0, or one rank of
each node, steps, where all ranks train one model and reduce their gradients. Mostly it is a
`ReduceLROnPlateau` that stands where rank 0 has validated.

## Why it hurts

A schedule changes the learning rate of the optimizer in its own process, and tells nobody. From the first
step on that changes it, rank 0 applies the same gradients as the others with another rate. Nothing hangs and
nothing is logged: the weights of the ranks drift apart, each rank's gradients belong to a model that the
others no longer have, and what is saved is the model of rank 0.

## Wrong

```python
if rank == 0:
    loss = validate(model)
    plateau.step(loss)
```

## Right

```python
loss = torch.tensor(validate(model) if rank == 0 else 0.0, device=device)
dist.broadcast(loss, src=0)
plateau.step(loss.item())
```

## When it is silent

* The other ranks step it elsewhere in the function, as in the other branch of the test.
* The function also writes learning rates into the optimizer (`group["lr"] = rate`).
* What the call hands back is used: a schedule of noise (`scheduler.step(output, t, sample).prev_sample`).
* No gradients are reduced over the ranks in the program, or one process runs it.

## Fix

There is none: the value that decides has to get to all ranks first.

## Proof

There is nothing to replay: nothing communicates.
)md",
    .check = CheckScheduleOnSomeRanks};

}  // namespace allranks::rules
