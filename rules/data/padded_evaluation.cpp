#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::LoaderLoop;
using variation::ValueId;

constexpr std::string_view kCode = "AR309";

class Evaluations {
 public:
  Evaluations(const Context& context, FindingSink& sink) : context_(context), sink_(sink), calls_(context) {}

  void Run() {
    for (const LoaderLoop& loop : context_.loading.loops()) {
      for (const ValueId sampler : context_.loading.DistributedSamplersOf(loop.loader)) Visit(loop, sampler);
    }
  }

 private:
  void Visit(const LoaderLoop& loop, ValueId sampler) {
    const FuncId function = loop.iterable.function;
    const ir::ModuleId module = context_.program.funcs[function].module;
    const bool is_ordered = context_.values.IsFalse(context_.values.MadeWith(sampler, "shuffle")) || IsNeverTrainedOn(loop.loader);
    const ValueId drop = context_.values.MadeWith(sampler, "drop_last");
    if (!is_ordered || (drop && !context_.values.IsFalse(drop)) || context_.training.Trains(module, loop.loop)) return;
    const std::optional<objects::Site> reduction = ReductionIn(loop);
    if (!reduction || KnowsPadding(function)) return;
    std::vector<objects::Site> made = context_.loading.MadeAt(sampler);
    // Another program makes its own.
    std::erase_if(made, [&](const objects::Site& site) {
      return std::ranges::count(calls_.FilesOf(module), context_.program.funcs[site.function].module) == 0;
    });
    if (made.size() != 1) return;
    const source::Span span = SpanOf(context_, *reduction);
    if (std::ranges::count(seen_, span) > 0) return;
    seen_.push_back(span);
    Finding finding = FindingAt(context_, kCode, Severity::Warning, Confidence::Likely, *reduction,
                                {"this counts samples that the sampler repeats to give all ranks equally many: the result "
                                 "depends on the number of ranks",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"brings the results of all ranks together", {}});
    AddLabel(finding, SpanOf(context_, made[0]), LabelRole::Why, {"pads the data set", {}});
    AddLabel(finding, SpanOf(context_, loop.iterable), LabelRole::Note, {"evaluated here", {}});
    finding.help = {"gather the predictions and cut them to `len(dataset)`, or deal the rest out without padding", {}};
    sink_.push_back(std::move(finding));
  }

  bool IsNeverTrainedOn(ValueId loader) const {
    return std::ranges::none_of(context_.loading.loops(), [&](const LoaderLoop& other) {
      return context_.values.MayBeSame(other.loader, loader) && context_.training.TrainsOn(other);
    });
  }

  // Where the function that walks the loader brings the results of all ranks together, itself or in a helper that it calls
  // once they are there.
  std::optional<objects::Site> ReductionIn(const LoaderLoop& loop) const {
    const FuncId function = loop.iterable.function;
    const ir::Module& module = context_.program.module_of(function);
    for (const objects::KnownCall& call : context_.index.known_calls()) {
      if (call.function == function && BringsTogether(call)) return objects::Site{function, call.expr};
    }
    for (const auto& [expr, fact] : context_.facts.functions[function].calls) {
      if (fact.kind != variation::CallKind::Function || module[expr].begin < module[loop.loop].begin) continue;
      const bool is_helper = std::ranges::any_of(context_.index.known_calls(), [&](const objects::KnownCall& call) {
        return call.function == fact.function && BringsTogether(call);
      });
      if (is_helper) return objects::Site{function, expr};
    }
    return std::nullopt;
  }

  bool BringsTogether(const objects::KnownCall& call) const {
    if (!call.entry->has_operation) return false;
    const std::string_view kind = context_.program.text(call.entry->operation.kind);
    return kind == "all_reduce" || kind == "reduce" || kind.starts_with("all_gather") || kind.starts_with("gather");
  }

  // It speaks of the number of samples, of what is left over, or cuts.
  bool KnowsPadding(FuncId function) const {
    const ir::Function& node = context_.program.function(function);
    const std::string_view text = TextOf(context_, {context_.program.module_of(function).file, node.begin, node.end});
    return HoldsWord(text, {"len(dataset", ".dataset)", "total_size", "num_samples", "Subset", "remainder", "[:len(", "[: len(", "unique",
                            "duplicate", "padd", "pad_"});
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
  std::vector<source::Span> seen_;
};

void Check(const Context& context, FindingSink& sink) { Evaluations(context, sink).Run(); }

}  // namespace

extern const Rule PaddedEvaluation = {
    .code = kCode,
    .name = "padded-evaluation",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = kTooFewFindings,
    .languages = "Python",
    .summary = "evaluation that counts the samples which the distributed sampler repeats",
    .explanation = R"md(
## What it finds

A loop without training over a loader whose `DistributedSampler` does not drop the rest, and does not shuffle or is
never trained on, in a function that sums up or gathers results over the ranks, itself or by a helper that it
calls then, and does not speak of the number of samples.

## Why it hurts

`DistributedSampler` gives all ranks equally many samples by repeating the first ones. With 1,001 samples on 8
ranks 7 count twice. The metric changes with the number of GPUs, by little on large sets and by much on small
ones, and results of two machines cannot be compared.

## Wrong

```python
sampler = DistributedSampler(val_set, shuffle=False)
for x, y in DataLoader(val_set, sampler=sampler):
    correct += (model(x).argmax(1) == y).sum()
dist.all_reduce(correct)
```

## Right

```python
results = evaluate(model, DataLoader(val_set, sampler=DistributedSampler(val_set, shuffle=False)))
dist.all_gather_into_tensor(everything, results)
correct = interleave(everything)[: len(val_set)].sum()
```

## When it is silent

* `drop_last=True`, or a sampler of the project.
* The function cuts to the length of the data set, or evaluates the rest by itself.
* A framework does it (`gather_for_metrics`).

## Fix

There is none: where the results are cut depends on what they are.

## Proof

There is nothing to replay: all ranks agree, on too many samples.
)md",
    .check = Check};

}  // namespace allranks::rules
