#include <algorithm>
#include <span>
#include <vector>

#include "analyzer/objects/open_params.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::LoaderLoop;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR306 = "AR306";

class IterableDatasets {
 public:
  IterableDatasets(const Context& context, FindingSink& sink) : context_(context), sink_(sink) {}

  void Run() {
    for (const LoaderLoop& loop : context_.loading.loops()) {
      for (const ValueId dataset : context_.values.Leaves(context_.values.MadeWith(loop.loader, "dataset"))) {
        const variation::Value& node = context_.facts.values_store[dataset];
        const bool is_own = node.kind == ValueKind::Instance && context_.values.IsA(dataset, "torch.utils.data.IterableDataset");
        if (is_own) Visit(loop, node.class_id());
      }
    }
  }

 private:
  void Visit(const LoaderLoop& loop, binding::ClassId class_id) {
    const FuncId iterate = MethodNamed(class_id, "__iter__");
    const ir::ModuleId module = context_.program.funcs[loop.iterable.function].module;
    if (!iterate || std::ranges::count(seen_, class_id) > 0 || IsGivenItsShare(class_id)) return;
    const bool ignores_rank = context_.training.Reduces(module, loop.loop) && !Speaks(class_id, {"rank", "world", "shard", "split", "replica"});
    const std::optional<int64_t> workers = context_.values.Int(context_.values.MadeWith(loop.loader, "num_workers"));
    const bool ignores_worker = workers.value_or(0) > 1 && !Speaks(class_id, {"worker"}) && !HasInitOfWorkers(loop.loader);
    if (!ignores_rank && !ignores_worker) return;
    seen_.push_back(class_id);
    const ir::Function& function = context_.program.function(iterate);
    const ir::Module& source = context_.program.module_of(iterate);
    Finding finding = FindingAt(context_, kAR306, Severity::Error, Confidence::Likely, objects::Site{iterate, ir::ExprId{0}},
                                {ignores_rank ? "this data set gives every rank the same samples: it does not "
                                                "look at the rank, and an iterable data set has no sampler to split it"
                                              : "each loader worker yields all samples: the data set does not "
                                                "look at its worker id, so an epoch repeats every sample once per worker",
                                 {}});
    finding.span = {source.file, function.name_begin, function.name_end};
    AddLabel(finding, finding.span, LabelRole::Primary, {ignores_rank ? "the same on every rank" : "the same in every worker", {}});
    AddLabel(finding, SpanOf(context_, loop.iterable), LabelRole::Note, {"trained on here", {}});
    finding.help = {ignores_rank ? "yield every `world_size`-th sample, starting at `rank`, or use `split_dataset_by_node`"
                                 : "call `torch.utils.data.get_worker_info()` and yield this worker's part only",
                    {}};
    finding.witness = WitnessOf(loop.loader, ignores_rank);
    sink_.push_back(std::move(finding));
  }

  witness::Witness WitnessOf(ValueId loader, bool ignores_rank) const {
    constexpr uint32_t kSomeBatch = 8, kLargestBatch = 4096, kMostWorkers = 64;
    const traces::World world = OneNode();
    witness::SampleShares scenario;
    scenario.batch = NumberWithin(context_, context_.values.MadeWith(loader, "batch_size"), 1, kLargestBatch, kSomeBatch);
    scenario.samples = SamplesFor(scenario.batch, world);
    // Whether a data set that ignores the rank asks for the worker is a matter of its own: one is enough.
    scenario.by_rank = !ignores_rank;
    if (!ignores_rank) scenario.workers = NumberWithin(context_, context_.values.MadeWith(loader, "num_workers"), 2, kMostWorkers, 2);
    return ScenarioWitness(world, witness::Effect::Semantic, std::move(scenario));
  }

  FuncId MethodNamed(binding::ClassId class_id, std::string_view name) const {
    const base::NameId id = context_.program.names->Find(name);
    return id ? context_.program.FindMethod(class_id, id) : FuncId::None();
  }

  // It is made with something that differs from rank to rank.
  bool IsGivenItsShare(binding::ClassId class_id) const {
    return std::ranges::any_of(context_.index.MadeWith(class_id), [&](ValueId arg) {
      return arg && !context_.facts.values_store.axes(arg).empty();
    });
  }

  // Fields that keep parameters which every call leaves at their defaults, and these: whatever they are called, they hold that.
  std::vector<base::NameId> LeftAtDefaults(binding::ClassId class_id) const {
    std::vector<base::NameId> names;
    const FuncId init = MethodNamed(class_id, "__init__");
    if (!init) return names;
    const auto is_left = [&](ValueId value) {
      return value && context_.values[value].kind == ValueKind::Param && !objects::NameOfOpenParam(context_.program, context_.facts, value);
    };
    for (const auto& [field, value] : context_.facts.functions[init].made) {
      if (!is_left(value)) continue;
      names.push_back(field);
      names.push_back(context_.program.function(init).params[context_.values[value].param_index()].name);
    }
    return names;
  }

  // In the text of the class, its bases, and the functions of the project that its methods call.
  bool Speaks(binding::ClassId class_id, std::initializer_list<std::string_view> words) const {
    const std::vector<base::NameId> left = LeftAtDefaults(class_id);
    for (const binding::ClassId base : context_.program.classes[class_id].mro) {
      const ir::Class& node = context_.program.ir_class(base);
      if (NamesSpeak(context_.program.modules[context_.program.classes[base].module], node.begin, node.end, words, left)) return true;
      for (const auto& [name, method] : context_.program.classes[base].methods) {
        if (CalleesSpeak(method, words)) return true;
      }
    }
    return false;
  }

  bool CalleesSpeak(FuncId method, std::initializer_list<std::string_view> words) const {
    for (const auto& [expr, fact] : context_.facts.functions[method].calls) {
      if (!fact.function) continue;
      const ir::Function& callee = context_.program.function(fact.function);
      const ir::Module& module = context_.program.module_of(fact.function);
      if (NamesSpeak(module, callee.begin, callee.end, words, {})) return true;
    }
    return false;
  }

  // The names that code reads, but for those that are `known`; what comments say does not count.
  bool NamesSpeak(const ir::Module& module, uint32_t begin, uint32_t end, std::initializer_list<std::string_view> words,
                  std::span<const base::NameId> known) const {
    return std::ranges::any_of(module.exprs, [&](const ir::Expr& expr) {
      if (expr.begin < begin || expr.end > end) return false;
      base::NameId name;
      if (expr.kind == ir::ExprKind::Name) name = ir::NameOf(expr);
      if (expr.kind == ir::ExprKind::Attribute) name = ir::AttrOf(expr);
      return name && std::ranges::find(known, name) == known.end() && HoldsWord(context_.program.text(name), words);
    });
  }

  bool HasInitOfWorkers(ValueId loader) const {
    const ValueId init = context_.values.MadeWith(loader, "worker_init_fn");
    return init && !context_.values.IsNone(init);
  }

  const Context& context_;
  FindingSink& sink_;
  std::vector<binding::ClassId> seen_;
};

void CheckIterableDatasetNotSplit(const Context& context, FindingSink& sink) { IterableDatasets(context, sink).Run(); }

}  // namespace

extern const Rule IterableDatasetNotSplit = {
    .code = kAR306,
    .name = "iterable-dataset-not-split",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "iterable data set that gives every rank, or every worker of a loader, all samples",
    .explanation = R"md(
## What it finds

An `IterableDataset` of the project whose loader feeds data-parallel training, and that nowhere asks for the
rank: not in its methods, not in what they call, and nothing that differs between ranks is handed to it. And
one that does not ask for the worker although its loader has several.

## Why it hurts

No sampler can deal out an iterable data set: `DataLoader` refuses one beside it. All ranks read the same
samples in the same order, compute the same gradients, and average them: eight GPUs do the work of one. With
four workers each sample comes four times an epoch. The loss falls as before, so nobody notices.

## Wrong

```python
class Lines(IterableDataset):
    def __iter__(self):
        yield from open(self.path)
```

## Right

```python
class Lines(IterableDataset):
    def __iter__(self):
        rank, size = dist.get_rank(), dist.get_world_size()
        yield from itertools.islice(open(self.path), rank, None, size)
```

## When it is silent

* The class, a base class, or a function that it calls mentions ranks, shards or splits.
* It is made with an argument that differs from rank to rank.
* Nothing is trained with it under a wrapper that averages gradients, or a framework prepares the loader.

## Fix

There is none: how samples are dealt out depends on where they come from.

## Proof

`allranks verify` lets each rank, and each worker of its loader, take what the data set gives it, and counts
how often each sample is taken in an epoch.
)md",
    .check = CheckIterableDatasetNotSplit,
    .scenario = Scenario::SampleShares};

}  // namespace allranks::rules
