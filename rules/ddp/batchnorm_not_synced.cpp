#include <algorithm>
#include <optional>

#include "rules/ddp/wrapped_models.h"
#include "rules/wrapping.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::Site;

constexpr std::string_view kAR508 = "AR508";

// Statistics of fewer samples than this are noisy; the paper on group normalisation (Wu and He, 2018) shows the loss.
constexpr int64_t kSmallBatch = 8;

class Models {
 public:
  Models(const Context& context, FindingSink& sink) : context_(context), sink_(sink), calls_(context) {}

  void Run() {
    for (const WrappedModel& model : WrappedModels(context_)) Visit(model);
  }

 private:
  void Visit(const WrappedModel& model) {
    const ir::ModuleId module = context_.program.funcs[model.call.function].module;
    const std::optional<Site> norm = BatchNormOf(model.class_id);
    if (!norm || calls_.Names(module, {"convert_sync_batchnorm", "SyncBatchNorm"})) return;
    const objects::KnownCall* loader = SmallLoader(module);
    if (loader == nullptr) return;
    const Site site{model.call.function, model.call.expr};
    Finding finding = FindingAt(context_, kAR508, Severity::Info, Confidence::Likely, site,
                                {"batch norm computes its statistics from the {} samples of one rank, however many ranks there are",
                                 {Quoted(context_, {loader->function, context_.index.ArgExpr(*loader, "batch_size")})}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"wrapped without conversion", {}});
    AddLabel(finding, SpanOf(context_, *norm), LabelRole::Why, {"batch norm", {}});
    finding.help = {"convert the model with `torch.nn.SyncBatchNorm.convert_sync_batchnorm` before it is wrapped", {}};
    AddFix(model.call, module, finding);
    sink_.push_back(std::move(finding));
  }

  std::optional<Site> BatchNormOf(binding::ClassId class_id) const {
    for (const binding::ClassId base : context_.program.classes[class_id].mro) {
      for (const auto& [name, method] : context_.program.classes[base].methods) {
        for (const Site& call : CallsIn(context_, method)) {
          const variation::ValueId made = context_.facts.value(context_.program.funcs[method].module, call.expr);
          if (made && context_.values.IsA(made, "torch.nn.BatchNorm1d")) return call;
        }
      }
    }
    return std::nullopt;
  }

  // Every loader of the program that is dealt out has small batches.
  const objects::KnownCall* SmallLoader(ir::ModuleId module) {
    const objects::KnownCall* small = nullptr;
    for (const objects::KnownCall& loader : context_.loading.made_loaders()) {
      if (std::ranges::count(calls_.FilesOf(module), context_.program.funcs[loader.function].module) == 0) continue;
      const std::optional<int64_t> batch = context_.values.Int(context_.index.Arg(loader, "batch_size"));
      if (!batch || *batch > kSmallBatch) return nullptr;
      small = &loader;
    }
    return small;
  }

  void AddFix(const objects::KnownCall& wrap, ir::ModuleId module, Finding& finding) const {
    const ir::ExprId inner = context_.index.ArgExpr(wrap, "module");
    if (!inner) return;
    std::vector<findings::Edit> edits = {Replace(context_.program.modules[module].span(inner),
                                                 "torch.nn.SyncBatchNorm.convert_sync_batchnorm(" +
                                                     std::string(TextOf(context_, module, inner)) + ")")};
    for (findings::Edit& edit : EnsureImport(context_, module, "torch", "import torch")) edits.push_back(std::move(edit));
    finding.fixes.push_back(MakeFix("convert the model before it is wrapped", Applicability::Unsafe, std::move(edits)));
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
};

void CheckBatchnormNotSynced(const Context& context, FindingSink& sink) { Models(context, sink).Run(); }

}  // namespace

extern const Rule BatchnormNotSynced = {
    .code = kAR508,
    .name = "batchnorm-not-synced",
    .severity = Severity::Info,
    .on_by_default = false,
    .languages = "Python",
    .summary = "batch norm under DDP with small batches on each rank, without SyncBatchNorm",
    .explanation = R"md(
## What it finds

A model of the project that has `BatchNorm` layers and is wrapped in DDP, in a program whose loaders have
batches of at most 8 samples and that never mentions `SyncBatchNorm`.

## Why it hurts

Each rank normalises with the mean and variance of its own few samples. For these layers, a total batch of 64
on 8 ranks trains like a batch of 8. The running statistics used in evaluation are those of rank 0.

## Wrong

```python
model = DDP(ResNet())
loader = DataLoader(dataset, batch_size=2, sampler=sampler)
```

## Right

```python
model = DDP(torch.nn.SyncBatchNorm.convert_sync_batchnorm(ResNet()))
loader = DataLoader(dataset, batch_size=2, sampler=sampler)
```

## When it is silent

* A loader has larger batches, or its batch size is not a number in the program.
* `SyncBatchNorm` occurs in any file of the program.

The rule is advice, and off by default: `--select AR508` turns it on.

## Fix

`--unsafe-fixes` converts the model before it is wrapped. This is not safe, because each layer then
communicates and the results change.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckBatchnormNotSynced,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
