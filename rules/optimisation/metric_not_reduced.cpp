#include <algorithm>
#include <optional>

#include "analyzer/objects/flow_from.h"
#include "analyzer/objects/lightning_sampling.h"
#include "analyzer/objects/lightning_validation.h"
#include "analyzer/objects/one_process_modes.h"
#include "rules/finding_parts.h"
#include "rules/optimisation/counted_fields.h"
#include "rules/optimisation/monitored_metrics.h"
#include "rules/program_calls.h"
#include "rules/share_uses.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kAR405 = "AR405";
// Where Lightning evaluates, by the names that a module gives its overrides.
constexpr std::string_view kEvaluationHooks[] = {"validation_step", "test_step", "validation_epoch_end", "test_epoch_end",
                                                 "on_validation_epoch_end", "on_test_epoch_end"};

class Metrics {
 public:
  Metrics(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), results_(context.shares.Get()),
        sampling_(context.program, context.knowledge, context.facts, context.index, context.loading, context.settings),
        validation_(context.program, context.knowledge, context.facts, context.index), monitored_(context),
        modes_(context.program, context.facts, context.index, context.guards, context.launch, context.options) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      const std::string_view name = context_.program.text(call.entry->name);
      if (name == objects::kLightningLog) VisitLog(call, "value");
      if (name == "lightning.pytorch.LightningModule.log_dict") VisitLog(call, "dictionary");
    }
    for (const objects::ShareUse& use : results_.uses()) {
      // Of training, what is shown is AR413's.
      const bool is_other = use.kind == objects::ShareUse::Kind::Combined || (use.kind == objects::ShareUse::Kind::Shown && LoopOf(use).trains);
      if (!is_other && !IsOfEvaluation(use) && IsReached(context_, results_, use)) ReportUse(LastLike(context_, results_, use));
    }
  }

 private:
  // It differs with the batches of a rank, as far as its callers say, and nothing in it was reduced.
  bool IsOfItsShare(ValueId value) const {
    if (!value) return false;
    if (context_.facts.values_store.axes(value).has(knowledge::Axis::Data)) return true;
    if (!context_.facts.values_store.has_param(value) || context_.values.HasFlag(value, variation::kReduced)) return false;
    return context_.values.AnyPart(value, [&](ValueId part) { return context_.facts.values_store.axes(part).has(knowledge::Axis::Data); });
  }

  // In an evaluation, `self.log("loss", loss, rank_zero_only=True)` or without `sync_dist`: what rank 0 saw.
  void VisitLog(const KnownCall& log, std::string_view param) {
    const ValueId only = context_.index.Arg(log, "rank_zero_only");
    const ValueId sync = context_.index.Arg(log, "sync_dist");
    const ir::ExprId value = context_.index.ArgExpr(log, param);
    if (!value || (sync && !context_.values.IsFalse(sync))) return;
    const bool is_of_first = only && context_.values.IsTrue(only);
    if (!Evaluates({log.function, log.expr})) return;
    if (!is_of_first && context_.launch.Of(log.function) != objects::RunBy::AllRanks) return;
    if (!is_of_first && !sampling_.EvaluatesShares(context_.program.funcs[log.function].module)) return;
    const bool differs = IsOfItsShare(context_.index.Arg(log, param)) || IsCountedInFields({log.function, value});
    if (!differs || IsMetric(context_.index.Arg(log, param))) return;
    if (IsOfAllInHook({log.function, value})) return;
    Finding finding = FindingAt(context_, kAR405, Severity::Warning, Confidence::Likely, Site{log.function, log.expr},
                                {"`{}` covers rank 0's batches only: it is logged as the result of the whole job",
                                 {Quoted(context_, {log.function, value})}});
    AddLabel(finding, SpanOf(context_, {log.function, value}), LabelRole::Primary, {"differs between ranks", {}});
    AddReasons(context_, {log.function, value}, finding);
    finding.help = {"pass `sync_dist=True`, so that Lightning averages it over all ranks", {}};
    AddSync(log, finding);
    const ir::ModuleId module = context_.program.funcs[log.function].module;
    const std::optional<source::Span> monitor = monitored_.OfNames(module, context_.index.Arg(log, param == "value" ? "name" : param));
    if (monitor) AddLabel(finding, *monitor, LabelRole::Note, {"and decides here, by its name", {}});
    sink_.push_back(std::move(finding));
  }

  // Made of what the steps before counted in fields, where the hook puts nothing together but by `self.log`.
  bool IsCountedInFields(const Site& value) const {
    const auto is_log = [&](ir::ExprId call) {
      const KnownCall* known = context_.index.KnownCallAt({value.function, call});
      return known != nullptr && context_.program.text(known->entry->name).starts_with(objects::kLightningLog);
    };
    if (!std::ranges::all_of(results_.CombinationsIn(value.function), is_log)) return false;
    const std::vector<ir::ExprId> reads = ReadsOfCountedFields(context_, value.function);
    if (reads.empty()) return false;
    return objects::FlowFrom(context_.program, context_.index, value.function, reads, context_.program.function(value.function).begin).Holds(value.expr);
  }

  // At the end of an epoch, what a helper made that gathers the outputs: some do so only where there are several ranks. In the step of a
  // batch the model may gather features, and the loss still is that of the rank.
  bool IsOfAllInHook(const Site& value) const {
    const std::string_view name = context_.program.text(context_.program.function(value.function).name);
    return name.ends_with("_epoch_end") && results_.IsOfAll(value.function, value.expr);
  }

  // Whether Lightning's evaluation loops come to a place: it stands in a hook of theirs, or in a helper that hooks call. What a
  // helper that is called for training as well does under a condition may be for that only.
  bool Evaluates(const Site& site, int depth = 0) const {
    constexpr int kDeepest = 3;
    const std::string_view name = context_.program.text(context_.program.function(site.function).name);
    if (std::ranges::find(kEvaluationHooks, name) != std::end(kEvaluationHooks)) return validation_.MayRun(site.function);
    const auto callers = context_.index.CallersOf(site.function);
    if (depth == kDeepest || callers.empty()) return false;
    const auto evaluates = [&](const Site& caller) { return Evaluates(caller, depth + 1); };
    return IsUnderCondition(site) ? std::ranges::all_of(callers, evaluates) : std::ranges::any_of(callers, evaluates);
  }

  bool IsUnderCondition(const Site& site) const {
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    const ir::Tree& tree = context_.index.tree(module_id);
    for (ir::StmtId at = tree.StatementOf(site.expr); at; at = tree.Parent(at)) {
      if (context_.program.modules[module_id][at].kind == ir::StmtKind::If) return true;
    }
    return false;
  }

  // Metric objects reduce what they hold when it is asked for. What a collective made and nothing of the rank went into
  // since is that of all; a loss over gathered features still is one of the rank.
  bool IsMetric(ValueId value) const {
    const bool is_own = context_.facts.values_store.axes(value).has(knowledge::Axis::Data);
    return (!is_own && context_.values.HasFlag(value, variation::kReduced)) ||
           context_.values.AnyPart(value, [&](ValueId part) { return context_.values.IsA(part, "torchmetrics.Metric"); });
  }

  void AddSync(const KnownCall& log, Finding& finding) const {
    const ir::ModuleId module = context_.program.funcs[log.function].module;
    const ir::ExprId sync = context_.index.ArgExpr(log, "sync_dist");
    const ir::ExprId only = context_.index.ArgExpr(log, "rank_zero_only");
    if (!only) return;
    std::vector<findings::Edit> edits;
    if (sync) edits.push_back(Replace(context_.program.modules[module].span(sync), "True"));
    edits.push_back(sync ? RemoveArgument(context_, module, log.expr, only)
                         : Replace(ArgumentSpan(context_, module, log.expr, only), "sync_dist=True"));
    finding.fixes.push_back(MakeFix("log the mean over the ranks", Applicability::Unsafe, std::move(edits)));
  }

  // `if meters["val"].average > best:` of meters that training fills as well: the evaluation is what decides.
  bool IsOfEvaluation(const objects::ShareUse& use) const {
    return LoopOf(use).trains && std::ranges::any_of(results_.uses(), [&](const objects::ShareUse& other) {
      return other.place == use.place && other.kind == use.kind && !LoopOf(other).trains;
    });
  }

  const objects::ShareLoop& LoopOf(const objects::ShareUse& use) const { return results_.loops()[use.loop]; }

  void ReportUse(const objects::ShareUse& use) {
    const Site value{use.place.function, use.value};
    const source::Span iterable = SpanOf(context_, LoopOf(use).iterable);
    if (IsSeenTwice(iterable)) return;
    const bool is_sure = !use.is_running && !LoopOf(use).may_be_whole && results_.IsCalled(use.place) && !IsStartedElsewhere(context_, use.place);
    const bool trains = LoopOf(use).trains;
    Finding finding = FindingAt(context_, kAR405, Severity::Warning, is_sure ? Confidence::Likely : Confidence::Possible, use.place, MessageOf(use));
    findings::Assume(finding, modes_.AssumedAt({&use.place, 1}));
    AddLabel(finding, SpanOf(context_, value), LabelRole::Primary, {"differs between ranks", {}});
    AddLabel(finding, iterable, LabelRole::Why, {trains ? "each rank trains on a share of the data" : "each rank evaluates a share of the data", {}});
    AddReturn(context_, results_, use, finding);
    const objects::ShareUse* decision = DecisionOf(use);
    if (decision != nullptr && decision->place != use.place) AddLabel(finding, SpanOf(context_, decision->place), LabelRole::Note, {DecisionBy(decision->kind), {}});
    finding.help = {HelpFor(use.kind), {}};
    sink_.push_back(std::move(finding));
  }

  findings::Text MessageOf(const objects::ShareUse& use) const {
    // A function that is handed one loader to train on and another one to evaluate on goes over both in one loop.
    const std::string share = !LoopOf(use).trains ? "evaluation" : LoopOf(use).handed ? "data" : "training data";
    if (use.kind == objects::ShareUse::Kind::Chosen) return {"one rank's share of the {} decides which checkpoint is kept", {share}};
    if (use.kind == objects::ShareUse::Kind::Stepped) return {"each rank's share of the {} decides about its learning rate", {share}};
    if (use.kind == objects::ShareUse::Kind::Averaged) {
      return {"`{}` scores each rank's share of the {}: what the ranks put together of it is not the score of the whole set",
              {Quoted(context_, {use.place.function, use.value}), share}};
    }
    return {"`{}` covers only {} share of the data: it is shown as the whole result",
            {Quoted(context_, {use.place.function, use.value}), std::string(WhoseShare(context_, use.place))}};
  }

  static std::string_view HelpFor(objects::ShareUse::Kind kind) {
    if (kind == objects::ShareUse::Kind::Shown) return "sum numerator and denominator over the ranks first, with `all_reduce`";
    if (kind == objects::ShareUse::Kind::Averaged) return "gather predictions and labels from all ranks first, and score them once";
    return "reduce the result over the ranks before it decides";
  }

  // What the same share also decides, or this use itself; none: nothing.
  const objects::ShareUse* DecisionOf(const objects::ShareUse& use) const {
    const auto decides = [&](const objects::ShareUse& other) {
      const bool is_decision = other.kind == objects::ShareUse::Kind::Chosen || other.kind == objects::ShareUse::Kind::Stepped;
      return is_decision && other.loop == use.loop && IsReached(context_, results_, other);
    };
    if (decides(use)) return &use;
    const auto is_beside = [&](const objects::ShareUse& other) { return other.place.function == use.place.function && decides(other); };
    const auto beside = std::ranges::find_if(results_.uses(), is_beside);
    const auto found = beside != results_.uses().end() ? beside : std::ranges::find_if(results_.uses(), decides);
    return found == results_.uses().end() ? nullptr : &*found;
  }

  static std::string_view DecisionBy(objects::ShareUse::Kind kind) {
    return kind == objects::ShareUse::Kind::Chosen ? "and decides which checkpoint is kept" : "and decides about each rank's learning rate";
  }

  bool IsSeenTwice(source::Span span) {
    if (std::ranges::count(seen_, span) > 0) return true;
    seen_.push_back(span);
    return false;
  }

  const Context& context_;
  FindingSink& sink_;
  const objects::ShareResults& results_;
  objects::LightningSampling sampling_;
  objects::LightningValidation validation_;
  MonitoredMetrics monitored_;
  objects::OneProcessModes modes_;
  std::vector<source::Span> seen_;
};

void CheckMetricNotReduced(const Context& context, FindingSink& sink) { Metrics(context, sink).Run(); }

}  // namespace

extern const Rule MetricNotReduced = {
    .code = kAR405,
    .name = "metric-not-reduced",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = "of the last 24 findings on public code that was read for the first time 13 were right, and of nine whose result decides which checkpoint is kept five",
    .languages = "Python",
    .summary = "result of one rank's share of the data, shown or used as if it were that of the whole",
    .explanation = R"md(
## What it finds

* An evaluation of what is dealt out by rank (a distributed sampler, one of the project that takes the share
  of its rank, a loader that Accelerate prepared, a slice by the rank) that nothing reduces over the ranks,
  and whose result is printed or logged, also by a caller or a helper, decides whether a checkpoint is kept,
  or is what a scheduler of the learning rate is told. Once for each evaluation. It decides by a comparison
  (`if accuracy > best:`), by a flag that keeps one (`is_best`), or in an object or function of the project
  that is handed the result or the flag (`early_stopping(loss, model)`, `save_checkpoint(state, is_best)`).
* The result of an epoch of training on what is dealt out, of which nothing was put together, where it
  decides whether a checkpoint is kept or is what a scheduler is told (AR413 is about what is shown).
* A score that only a whole set has (`f1_score`, `roc_auc_score`, a correlation), computed of each rank's
  share and then put together over the ranks: the mean of the F1 of eight parts is not the F1 of the set.
* Lightning's `self.log` or `self.log_dict` where validation and test steps and the ends of their epochs
  come by, without `sync_dist=True` or with `rank_zero_only=True`, of a value that differs from rank to
  rank, or that is made of fields in which the steps count. Lightning shows rank 0's value, and says so in
  a warning.

## Why it hurts

Each rank evaluates an eighth of the data. What rank 0 shows is the accuracy on its eighth: noisier than it
looks, different from what the same weights give on one GPU, and the "best" checkpoint is the one that does
best on that eighth.

## Wrong

```python
for x, y in loader:
    correct += (model(x).argmax(1) == y).sum().item()
if rank == 0:
    print(correct / len(dataset))
```

## Right

```python
for x, y in loader:
    correct += (model(x).argmax(1) == y).sum()
dist.all_reduce(correct)
if rank == 0:
    print(correct.item() / len(dataset))
```

## When it is silent

* Values of several ranks are put together before, in the function or in what it calls, and the result, or a
  variable that it is made of, may be among them; also by files of each rank that are read behind a barrier.
  What another arm of a test makes of it instead, or returns before, is taken to be for one process.
* Gradients are computed in the loop, or a model was put into training mode before, and the result decides
  nothing.
* What is printed holds the number of the rank, says only how many there are or how long it took, is the
  path of a file, or is a picture or a sound.
* The result is kept in a field and read by another method.
* What is logged is a metric object of torchmetrics or a cumulative one of MONAI, or was reduced before; at
  the end of an epoch, also by a helper that gathers where there are several ranks.
* A trainer of one device runs the module, or one that deals nothing out (`use_distributed_sampler=False`)
  and the program makes no distributed sampler for the evaluation. In a notebook it is of one device unless
  it is told of more.
* A helper of training and evaluation logs under a condition.
* A caller hands the loop a loader that deals nothing out: what it makes of the result counts all samples.
* The module is never validated: `fit` is given a loader for training only, or the trainer
  `limit_val_batches=0`.

It is *possible*, and hidden by default, where the evaluation shows its running result in each round and
nothing behind the loop, where another loader may stand there that deals nothing out, where
nothing calls the function, where the commands of the project start ranks of other programs and of none that
uses the file, where all that lead there by their options start one process, and where files of settings name
the module only as a part of another one.

## Fix

`--unsafe-fixes` lets Lightning reduce what is logged. It is not safe, as every rank then has to get there.
Elsewhere there is none: what has to be summed up is not known.

## Proof

There is nothing to replay: nothing communicates.
)md",
    .check = CheckMetricNotReduced,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
