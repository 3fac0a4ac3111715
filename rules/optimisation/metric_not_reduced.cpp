#include <algorithm>
#include <optional>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::LoaderLoop;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kCode = "AR405";
// Where Lightning evaluates, by the names that a module gives its overrides.
constexpr std::string_view kEvaluationHooks[] = {"validation_step", "test_step", "validation_epoch_end", "test_epoch_end",
                                                 "on_validation_epoch_end", "on_test_epoch_end"};

class Metrics {
 public:
  Metrics(const Context& context, FindingSink& sink) : context_(context), sink_(sink) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      const std::string_view name = context_.program.text(call.entry->name);
      if (name == "lightning.pytorch.LightningModule.log") VisitLog(call, "value");
      if (name == "lightning.pytorch.LightningModule.log_dict") VisitLog(call, "dictionary");
    }
    for (const LoaderLoop& loop : context_.loading.loops()) {
      if (!context_.loading.DistributedSamplersOf(loop.loader).empty()) VisitEvaluation(loop);
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

  // `self.log("loss", loss, rank_zero_only=True)`, or in an evaluation without `sync_dist`: what rank 0 saw.
  void VisitLog(const KnownCall& log, std::string_view param) {
    const ValueId only = context_.index.Arg(log, "rank_zero_only");
    const ValueId sync = context_.index.Arg(log, "sync_dist");
    const ir::ExprId value = context_.index.ArgExpr(log, param);
    if (!value || (sync && !context_.values.IsFalse(sync))) return;
    const bool is_of_first = only && context_.values.IsTrue(only);
    if (!is_of_first && (!Evaluates(log.function) || context_.launch.Of(log.function) != objects::RunBy::AllRanks)) return;
    if (!IsOfItsShare(context_.index.Arg(log, param)) || IsMetric(context_.index.Arg(log, param))) return;
    Finding finding = FindingAt(context_, kCode, Severity::Warning, Confidence::Likely, Site{log.function, log.expr},
                                {"`{}` covers rank 0's batches only, but is logged as the result of the whole job",
                                 {Quoted(context_, {log.function, value})}});
    AddLabel(finding, SpanOf(context_, {log.function, value}), LabelRole::Primary, {"differs between ranks", {}});
    AddReasons(context_, {log.function, value}, finding);
    finding.help = {"log it on all ranks with `sync_dist=True`", {}};
    AddSync(log, finding);
    sink_.push_back(std::move(finding));
  }

  // A hook of Lightning's evaluation loops, or a helper that only these call.
  bool Evaluates(FuncId function, int depth = 0) const {
    constexpr int kDeepest = 3;
    const std::string_view name = context_.program.text(context_.program.function(function).name);
    if (std::ranges::find(kEvaluationHooks, name) != std::end(kEvaluationHooks)) return true;
    const auto callers = context_.index.CallersOf(function);
    return depth < kDeepest && !callers.empty() &&
           std::ranges::all_of(callers, [&](const Site& caller) { return Evaluates(caller.function, depth + 1); });
  }

  // Metric objects reduce what they hold when it is asked for; so does what a collective went into.
  bool IsMetric(ValueId value) const {
    return context_.values.HasFlag(value, variation::kReduced) ||
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

  // A result of a share of the evaluation set is printed by one rank, or chooses a checkpoint.
  void VisitEvaluation(const LoaderLoop& loop) {
    const FuncId function = loop.iterable.function;
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    if (context_.training.Trains(module_id, loop.loop) || Communicates(function)) return;
    const ir::Module& module = context_.program.modules[module_id];
    for (const Site& call : CallsIn(context_, function)) {
      if (module[call.expr].begin < module[loop.loop].end) continue;
      if (IsLog(module_id, call.expr) && IsOnOneRank(call)) ReportLog(module_id, loop, call);
    }
    for (const Site& caller : context_.index.CallersOf(function)) VisitChoice(loop, caller);
  }

  bool Communicates(FuncId function) const {
    const ir::Function& node = context_.program.function(function);
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    for (const ir::StmtId stmt : context_.program.modules[module_id].statements(node.body)) {
      if (context_.training.Communicates(module_id, stmt)) return true;
    }
    return false;
  }

  bool IsLog(ir::ModuleId module_id, ir::ExprId call) const {
    const ir::Module& module = context_.program.modules[module_id];
    const std::string_view callee = TextOf(context_, module_id, ir::CalleeOf(module[call]));
    return callee == "print" || callee.ends_with(".info") || callee.ends_with(".add_scalar") || callee == "wandb.log";
  }

  bool IsOnOneRank(const Site& site) const {
    const traces::RankSet ranks = context_.reach.Ranks(site, objects::SmallJob(context_.facts.job));
    return ranks.count() == 1 && ranks.has(0);
  }

  void ReportLog(ir::ModuleId module_id, const LoaderLoop& loop, const Site& call) {
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
      const ir::ExprId value = ir::ArgAt(module, module[call.expr], i).value;
      if (!IsOfItsShare(context_.facts.value(module_id, value)) || IsSeenTwice(module.span(call.expr))) continue;
      Finding finding = FindingAt(context_, kCode, Severity::Warning, Confidence::Likely, call,
                                  {"`{}` covers rank 0's share of the data only, but is shown as the result of all data",
                                   {Quoted(context_, {call.function, value})}});
      AddLabel(finding, SpanOf(context_, {call.function, value}), LabelRole::Primary, {"differs between ranks", {}});
      AddLabel(finding, SpanOf(context_, loop.iterable), LabelRole::Why, {"each rank evaluates a share of the data", {}});
      finding.help = {"sum numerator and denominator over the ranks first, with `all_reduce`", {}};
      sink_.push_back(std::move(finding));
      return;
    }
  }

  // `if evaluate(...) > best: torch.save(...)`.
  void VisitChoice(const LoaderLoop& loop, const Site& caller) {
    const ir::ModuleId module_id = context_.program.funcs[caller.function].module;
    const ValueId result = context_.facts.value(module_id, caller.expr);
    if (!IsOfItsShare(result)) return;
    for (const KnownCall& save : context_.index.known_calls()) {
      if (save.function != caller.function || !save.entry->Has(knowledge::Role::Write)) continue;
      for (const objects::Guard& guard : context_.reach.Guards({save.function, save.expr})) {
        const ValueId test = context_.facts.value(module_id, guard.test);
        const bool decides = test && context_.values.AnyPart(test, [&](ValueId part) { return part == result; });
        if (!decides || IsSeenTwice(SpanOf(context_, {guard.function, guard.test}))) continue;
        Finding finding = FindingAt(context_, kCode, Severity::Warning, Confidence::Likely, Site{guard.function, guard.test},
                                    {"one rank's share of the evaluation decides which checkpoint is kept", {}});
        AddLabel(finding, finding.span, LabelRole::Primary, {"differs between ranks", {}});
        AddLabel(finding, SpanOf(context_, caller), LabelRole::Why, {"evaluated here", {}});
        AddLabel(finding, SpanOf(context_, loop.iterable), LabelRole::Why, {"each rank evaluates a share of the data", {}});
        finding.help = {"reduce the result over the ranks before it decides", {}};
        sink_.push_back(std::move(finding));
      }
    }
  }

  bool IsSeenTwice(source::Span span) {
    if (std::ranges::count(seen_, span) > 0) return true;
    seen_.push_back(span);
    return false;
  }

  const Context& context_;
  FindingSink& sink_;
  std::vector<source::Span> seen_;
};

void Check(const Context& context, FindingSink& sink) { Metrics(context, sink).Run(); }

}  // namespace

extern const Rule MetricNotReduced = {
    .code = kCode,
    .name = "metric-not-reduced",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview =
        "what one rank prints may be meant as just that, and there were too few findings on "
        "public code to say how often it is right",
    .languages = "Python",
    .summary = "result of one rank's share of the data, shown or used as if it were that of the whole",
    .explanation = R"md(
## What it finds

* An evaluation over a loader with a distributed sampler that nothing reduces over the ranks, and whose result
  rank 0 prints or logs, or which decides whether a checkpoint is kept.
* Lightning's `self.log` in a validation or test step, without `sync_dist=True`, of a value that differs
  from rank to rank, and `self.log(..., rank_zero_only=True)` anywhere. Lightning shows rank 0's value, and
  says so in a warning.

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

* Something in the function, or called by it, communicates.
* Gradients are computed in the loop: the loss of one rank's batch is what people watch while training.
* Each rank prints its own.
* What is logged is a metric object of torchmetrics, or was reduced before.

## Fix

`--unsafe-fixes` lets Lightning reduce what is logged. It is not safe, as every rank then has to get there.
Elsewhere there is none: what has to be summed up is not known.

## Proof

There is nothing to replay: nothing communicates.
)md",
    .check = Check,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
