#include <algorithm>
#include <vector>

#include "analyzer/ir/bindings.h"
#include "analyzer/ir/walk.h"
#include "analyzer/objects/evaluation_loops.h"
#include "analyzer/objects/job_runs.h"
#include "rules/data/whole_sets.h"
#include "rules/finding_parts.h"
#include "rules/share_uses.h"

namespace allranks::rules {
namespace {

using objects::EvaluationLoop;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kAR314 = "AR314";

class WholeEvaluations {
 public:
  WholeEvaluations(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), world_(objects::SmallJob(context.facts.job)), calls_(context), whole_(context),
        runs_(context.program, context.knowledge, context.facts, context.index, context.launch, context.loading),
        loops_(context.program, context.knowledge, context.facts, context.index, context.loading, context.training, context.launch) {}

  void Run() {
    for (const EvaluationLoop& loop : loops_.loops()) Visit(loop);
    for (const EvaluationLoop& loop : loops_.comprehensions()) {
      if (RunsModel(loop)) Visit(loop);
    }
  }

 private:
  void Visit(const EvaluationLoop& loop) {
    if (!loop.loader || loop.is_prepared || IsCutShort(loop) || IsOfOwnTraining(loop)) return;
    if (loops_.ModeOf(loop) != objects::ModelMode::Evaluation || !Trains(loop.iterable.function)) return;
    std::vector<ValueId> loaders = context_.loading.LoadersIn(context_.facts.value(ModuleOf(loop), loop.iterable.expr));
    loaders.push_back(loop.loader);
    if (AreWhole(loaders)) return VisitLoader(loop, loop.loader, loop.iterable);
    if (loop.handed) VisitCallers(loop);
  }

  // `evaluate(model, test_loader)` of a function that other calls give a loader which deals out.
  void VisitCallers(const EvaluationLoop& loop) {
    const variation::Value& param = context_.values[loop.handed];
    if (param.kind != variation::ValueKind::Param) return;
    for (const Site& caller : context_.index.CallersOf(param.function())) {
      const ValueId passed = context_.index.PassedBy(caller, param.function(), param.param_index());
      const std::vector<ValueId> loaders = passed ? context_.loading.LoadersIn(passed) : std::vector<ValueId>();
      if (!loaders.empty() && AreWhole(loaders)) VisitLoader(loop, loaders.front(), caller);
    }
  }

  // `place`: the loop, or the call that gives it the loader.
  void VisitLoader(const EvaluationLoop& loop, ValueId loader, const Site& place) {
    if (IsTrainedOn(loader) || !IsDoneByAll(place)) return;
    const std::vector<Site> made = MadeFor(loop, loader);
    if (made.empty() || IsSeen(place.function)) return;
    const bool is_sure = runs_.IsStartedOnRanks(place) && !IsStartedElsewhere(context_, place);
    Finding finding = FindingAt(context_, kAR314, Severity::Info, is_sure ? Confidence::Likely : Confidence::Possible, place,
                                {"each rank evaluates the whole set: all of them do the work of one", {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"every rank goes over all samples", {}});
    AddLabel(finding, SpanOf(context_, made[0]), LabelRole::Why, {"this loader has no distributed sampler", {}});
    finding.help = {"pass `sampler=DistributedSampler(dataset, shuffle=False)`, and put the results of the ranks together", {}};
    sink_.push_back(std::move(finding));
  }

  // `[len(batch) for batch in loader]` looks at the data alone.
  bool RunsModel(const EvaluationLoop& loop) const {
    const ir::Module& module = context_.program.modules[ModuleOf(loop)];
    const ir::Stmt& stmt = module[loop.loop];
    return std::ranges::any_of(context_.index.ExprsBeginningIn(ModuleOf(loop), stmt.begin, stmt.end), [&](ir::ExprId call) {
      if (module[call].kind != ir::ExprKind::Call || module[call].end > stmt.end) return false;
      const ValueId callee = context_.facts.value(ModuleOf(loop), ir::CalleeOf(module[call]));
      const std::vector<ValueId> leaves = callee ? context_.values.Leaves(callee) : std::vector<ValueId>();
      return std::ranges::any_of(leaves, [&](ValueId leaf) { return context_.values.IsA(leaf, "torch.nn.Module"); });
    });
  }

  // Samples that training draws as well are looked at for something else: their number, their mean, what is kept of them.
  bool IsTrainedOn(ValueId loader) const {
    return std::ranges::any_of(context_.loading.loops(), [&](const objects::LoaderLoop& other) {
      return context_.training.TrainsOn(other) && context_.values.AnyPart(other.loader, [&](ValueId part) { return part == loader; });
    });
  }

  // The function trains a model that ranks do not share, and evaluates that.
  bool IsOfOwnTraining(const EvaluationLoop& loop) const {
    const FuncId function = loop.iterable.function;
    return context_.training.Trains(function) && !context_.training.Reduces(function);
  }

  // Where the loader may have been made, by the program that the loop is of.
  std::vector<Site> MadeFor(const EvaluationLoop& loop, ValueId loader) {
    std::vector<Site> made = context_.loading.MadeAt(loader);
    std::erase_if(made, [&](const Site& site) { return !calls_.IsOneProgram(ModuleOf(loop), context_.program.funcs[site.function].module); });
    return made;
  }

  // None deals out, by a sampler, or by a data set that knows the rank.
  bool AreWhole(std::span<const ValueId> loaders) const {
    return std::ranges::all_of(loaders, [&](ValueId loader) { return whole_.IsWhole(loader) && whole_.IsOfPlainOrder(loader); });
  }

  // A few batches, as a look at what the model does.
  bool IsCutShort(const EvaluationLoop& loop) const {
    const ir::Module& module = context_.program.modules[ModuleOf(loop)];
    bool leaves = false;
    ir::ForEachBlock(module, module[loop.loop], [&](ir::BlockId block) {
      ir::ForEachStmtIn(module, block, [&](const ir::Stmt& stmt) {
        leaves = leaves || stmt.kind == ir::StmtKind::Break || stmt.kind == ir::StmtKind::Return;
      });
    });
    return leaves;
  }

  bool IsDoneByAll(const Site& site) const {
    const std::vector<Site> way = {site};
    return runs_.IsRunByRanks(way) && runs_.IsSharedWork(way) && !runs_.IsInTurn(way) &&
           !context_.job_places.IsApart(way) && context_.ranks.OnWay(way, world_) == traces::RankSet::All(world_.size());
  }

  // Some part of the program makes gradients.
  bool Trains(FuncId function) {
    const ir::ModuleId module = context_.program.funcs[function].module;
    for (uint32_t f = 0; f < context_.program.funcs.size(); ++f) {
      if (context_.training.Trains(FuncId{f}) && calls_.IsOneProgram(module, context_.program.funcs[FuncId{f}].module)) return true;
    }
    return false;
  }

  // Several loops of a function are one evaluation.
  bool IsSeen(FuncId function) {
    if (std::ranges::count(seen_, function) > 0) return true;
    seen_.push_back(function);
    return false;
  }

  ir::ModuleId ModuleOf(const EvaluationLoop& loop) const { return context_.program.funcs[loop.iterable.function].module; }

  const Context& context_;
  FindingSink& sink_;
  traces::World world_;
  ProgramCalls calls_;
  WholeSets whole_;
  objects::JobRuns runs_;
  objects::EvaluationLoops loops_;
  std::vector<FuncId> seen_;
};

void CheckRepeatedEvaluation(const Context& context, FindingSink& sink) { WholeEvaluations(context, sink).Run(); }

}  // namespace

extern const Rule RepeatedEvaluation = {
    .code = kAR314,
    .name = "repeated-evaluation",
    .severity = Severity::Info,
    .on_by_default = false,
    .preview = "on public code 3 of 4 of its findings were right: the others stand in programs that evaluate on one process, or that a framework "
               "deals out in a way that the rule does not see",
    .languages = "Python",
    .summary = "evaluation of the whole set by every rank",
    .explanation = R"md(
## What it finds

A loop over a `DataLoader` in a job that trains, also within an expression that runs a model
(`sum(hits(model(x), y) for x, y in loader)`), where

* gradients are off, or the model was put into evaluation mode;
* all ranks come to it, and share the work otherwise: a model is wrapped, data is dealt out;
* neither a sampler nor the data set knows the rank, whichever of several loaders may stand there. Of a
  function that is given several, the calls that give it such a one.

## Why it hurts

Eight GPUs do eight times the work of one, and the job waits for it each epoch. With generation by a large
model, or a score of its own on the CPU, evaluation soon takes longer than training. Where the results are
averaged afterwards, the average is one of eight equal numbers.

## Wrong

```python
loader = DataLoader(val_set, batch_size=32)
model.eval()
for x, y in loader:
    correct += (model(x).argmax(1) == y).sum()
```

## Right

```python
loader = DataLoader(val_set, batch_size=32, sampler=DistributedSampler(val_set, shuffle=False))
model.eval()
for x, y in loader:
    correct += (model(x).argmax(1) == y).sum()
dist.all_reduce(correct)
```

## When it is silent

* A test of the rank, there or in a caller, leaves it to one rank.
* One of the loaders that may stand there is dealt out, by a sampler or a framework (`accelerator.prepare`,
  also in another method).
* The data set is a stream, or something that it was made with differs between ranks.
* The loop is left before the end: it looks at a few batches.
* Training draws from the same loader: what is wanted is not a score.
* The function trains a model of its own, whose gradients no rank shares, and evaluates that.

It is *possible*, and hidden by default, where no command of the project starts the program on several ranks,
though commands start others.

## Fix

There is none: how the results of the ranks are put together depends on what they are.

## Proof

There is nothing to replay: nobody waits, and all ranks come to the same result.
)md",
    .check = CheckRepeatedEvaluation};

}  // namespace allranks::rules
