#include <algorithm>
#include <optional>

#include "analyzer/objects/lightning_calls.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kAR705 = "AR705";

// `monitor="val_loss"` of a callback or a scheduler, anywhere in the program.
std::optional<Site> MonitorOf(const Context& context, std::string_view metric) {
  for (uint32_t m = 0; m < context.program.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    for (const ir::ExprId id : context.index.ExprsOf(module_id, ir::ExprKind::Call)) {
      const ir::ExprId monitor = KeywordOf(context, module_id, id, "monitor");
      const FuncId function = monitor ? FunctionAround(context, module_id, id) : FuncId::None();
      if (function && context.values.Str(context.facts.value(module_id, monitor)) == metric) return Site{function, monitor};
    }
  }
  return std::nullopt;
}

void VisitLog(const Context& context, const KnownCall& log, FindingSink& sink) {
  const ValueId only = context.index.Arg(log, "rank_zero_only");
  const std::string_view metric = context.values.Str(context.index.Arg(log, "name"));
  if (!only || !context.values.IsTrue(only) || metric.empty()) return;
  const std::optional<Site> monitor = MonitorOf(context, metric);
  if (!monitor) return;
  Finding finding = FindingAt(context, kAR705, Severity::Error, Confidence::Likely, Site{log.function, log.expr},
                              {"`{}` is logged on rank 0 only, but a callback or scheduler on every rank "
                               "depends on it", {std::string(metric)}});
  AddLabel(finding, finding.span, LabelRole::Primary, {"unknown to the other ranks", {}});
  AddLabel(finding, SpanOf(context, *monitor), LabelRole::Why, {"looked up on every rank", {}});
  finding.help = {"log it on every rank, with `sync_dist=True`", {}};
  sink.push_back(std::move(finding));
}

// Hooks that Lightning runs on every rank because something in or after them is collective.
constexpr std::string_view kHooks[] = {"training_step",        "validation_step",      "test_step",           "on_train_epoch_end",
                                       "on_validation_epoch_end", "validation_epoch_end", "training_epoch_end", "configure_optimizers",
                                       "train_dataloader",     "val_dataloader",       "setup"};

// `@rank_zero_only def validation_epoch_end(self, outputs)`.
void VisitHook(const Context& context, FuncId function, FindingSink& sink) {
  const binding::ClassId owner = context.program.funcs[function].owner;
  if (!owner) return;
  const ir::Function& node = context.program.function(function);
  const std::string_view name = context.program.text(node.name);
  if (std::ranges::count(kHooks, name) == 0) return;
  const auto& bases = context.program.classes[owner].external_bases;
  const bool is_lightning = std::ranges::any_of(bases, [&](base::NameId base) {
    const std::string_view text = context.program.text(base);
    return text.ends_with("LightningModule") || text.ends_with("LightningDataModule");
  });
  const auto& decorators = context.facts.functions[function].decorators;
  const auto guard = std::ranges::find_if(decorators, [&](knowledge::EntryId entry) { return context.knowledge[entry].guard.has_value(); });
  if (!is_lightning || guard == decorators.end()) return;
  const ir::ModuleId module_id = context.program.funcs[function].module;
  const bool is_logged = !MethodCalls(context, function, "log", "self").empty() || !MethodCalls(context, function, "log_dict", "self").empty() ||
                         NamesAny(context, module_id, {"all_gather", "sync_dist"}, node.begin, node.end);
  const bool is_awaited = name.ends_with("_step") || name == "configure_optimizers" || name.ends_with("_dataloader");
  // What is logged for the end of an epoch is looked up on every rank, and reduced if asked for.
  if (!is_awaited && !is_logged) return;
  Finding finding = FindingAt(context, kAR705, Severity::Error, Confidence::Likely, Site{function, ir::ExprId{0}},
                              {"`{}` runs on rank 0 only: Lightning needs what it returns or logs on every rank", {std::string(name)}});
  finding.span = {context.program.modules[module_id].file, node.name_begin, node.name_end};
  AddLabel(finding, finding.span, LabelRole::Primary, {"the other ranks return None", {}});
  finding.help = {"run the hook on every rank, and decorate only the function that writes or prints", {}};
  sink.push_back(std::move(finding));
}

void CheckLightningRankZero(const Context& context, FindingSink& sink) {
  for (const KnownCall& call : context.index.known_calls()) {
    if (context.program.text(call.entry->name) == objects::kLightningLog) VisitLog(context, call, sink);
  }
  for (uint32_t f = 0; f < context.program.funcs.size(); ++f) {
    if (!context.facts.functions[FuncId{f}].decorators.empty()) VisitHook(context, FuncId{f}, sink);
  }
}

}  // namespace

extern const Rule LightningRankZero = {
    .code = kAR705,
    .name = "lightning-rank-zero",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "monitored metric logged on rank 0 only, or a hook of Lightning that only rank 0 runs",
    .explanation = R"md(
## What it finds

`self.log(name, ..., rank_zero_only=True)` of a metric that a callback or scheduler monitors, and a hook of a
`LightningModule` that `@rank_zero_only` keeps from the other ranks although Lightning needs its result, or
what it logs, everywhere.

## Why it hurts

Callbacks run on every rank. On those that did not log the metric, `ModelCheckpoint(monitor=...)` raises
`MisconfigurationException: ... could not find the monitored key`, or, with a stale value, decides otherwise
than rank 0: some ranks save, which is collective under sharding, and the rest goes on. A step that returns
None on a rank skips its backward, and the others wait in the reduction of gradients.

## Wrong

```python
self.log("val_acc", acc, rank_zero_only=True)
trainer = Trainer(callbacks=[ModelCheckpoint(monitor="val_acc")])
```

## Right

```python
self.log("val_acc", acc, sync_dist=True)
trainer = Trainer(callbacks=[ModelCheckpoint(monitor="val_acc")])
```

## When it is silent

* Nothing monitors the metric.
* The decorated method only prints or writes.

## Fix

There is none: whether the value is the same on all ranks is not known.

## Proof

There is nothing to replay: what the other ranks do depends on the callback.
)md",
    .check = CheckLightningRankZero};

}  // namespace allranks::rules
