#include <algorithm>
#include <span>
#include <vector>

#include "analyzer/objects/one_process_modes.h"
#include "analyzer/objects/set_sizes.h"
#include "analyzer/objects/trained_losses.h"
#include "rules/finding_parts.h"
#include "rules/share_uses.h"

namespace allranks::rules {
namespace {

using variation::ValueId;

constexpr std::string_view kAR309 = "AR309";

class Evaluations {
 public:
  Evaluations(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), results_(context.shares.Get()),
        sizes_(context.program, context.knowledge, context.facts, context.index),
        losses_(context.program, context.knowledge, context.facts, context.index, context.training),
        modes_(context.program, context.facts, context.index, context.guards, context.launch, context.options) {}

  void Run() {
    for (size_t loop = 0; loop < results_.loops().size(); ++loop) {
      const objects::ShareUse* use = results_.loops()[loop].trains ? nullptr : LastUncut(loop);
      if (use != nullptr) Visit(*use);
      if (!results_.loops()[loop].trains) VisitDropped(loop);
    }
  }

 private:
  // The last call that puts the results of a loop together; none if there is no such, or some call of them cuts.
  const objects::ShareUse* LastUncut(size_t loop) const {
    const objects::ShareUse* last = nullptr;
    for (const objects::ShareUse& use : results_.uses()) {
      if (use.kind != objects::ShareUse::Kind::Combined || use.loop != loop) continue;
      if (use.is_cut) return nullptr;
      if (last == nullptr || !IsSure(*last) || IsSure(use)) last = &use;
    }
    return last;
  }

  void Visit(const objects::ShareUse& use) {
    const objects::ShareLoop& loop = results_.loops()[use.loop];
    const ValueId sampler = PaddingSamplerOf(loop.loader);
    if ((!sampler && !loop.is_prepared) || std::ranges::count(seen_, use.place.function) > 0) return;
    if (sampler && sizes_.IsCutToMultiple(context_.values.MadeWith(sampler, "dataset"))) return;
    seen_.push_back(use.place.function);
    const bool is_sure = IsSure(use) && (!sampler || MayPad(sampler));
    Finding finding = FindingAt(context_, kAR309, Severity::Warning, is_sure ? Confidence::Likely : Confidence::Possible, use.place,
                                {"some samples count twice here: the sampler repeats them so that all ranks "
                                 "get the same number",
                                 {}});
    findings::Assume(finding, modes_.AssumedAt({&use.place, 1}));
    AddLabel(finding, finding.span, LabelRole::Primary, {"combines the results of all ranks", {}});
    AddLabel(finding, SpanOf(context_, loop.iterable), LabelRole::Note, {"evaluated in this loop", {}});
    if (sampler) AddSampler(sampler, finding);
    finding.help = {loop.is_prepared ? "use `gather_for_metrics`, which leaves them out"
                                     : "gather the predictions and cut them to `len(dataset)`, or evaluate without padding", {}};
    sink_.push_back(std::move(finding));
  }

  // `DataLoader(val_set, sampler=sampler, drop_last=True)`, where something becomes of the result.
  void VisitDropped(size_t index) {
    const objects::ShareLoop& loop = results_.loops()[index];
    if (!loop.loader || !DropsLast(loop.loader) || sizes_.IsCutToMultiple(context_.values.MadeWith(loop.loader, "dataset"))) return;
    const bool is_used = std::ranges::any_of(results_.uses(), [&](const objects::ShareUse& use) { return use.loop == index && IsReached(context_, results_, use); });
    const std::vector<objects::Site> made = context_.loading.MadeAt(loop.loader);
    const objects::Site place = made.size() == 1 ? made[0] : loop.iterable;
    if (!is_used || IsForTraining(loop.loader, made) || std::ranges::count(dropping_, place) > 0) return;
    dropping_.push_back(place);
    const bool is_sure = !loop.may_be_whole && results_.IsCalled(loop.iterable) && !IsStartedElsewhere(context_, loop.iterable);
    Finding finding = FindingAt(context_, kAR309, Severity::Warning, is_sure ? Confidence::Likely : Confidence::Possible, place,
                                {"each rank leaves out the samples that do not fill its last batch: the more ranks there are, the fewer samples the result covers", {}});
    findings::Assume(finding, modes_.AssumedAt({&loop.iterable, 1}));
    AddLabel(finding, finding.span, LabelRole::Primary, {"`drop_last=True` for an evaluation", {}});
    if (place != loop.iterable) AddLabel(finding, SpanOf(context_, loop.iterable), LabelRole::Note, {"evaluated in this loop", {}});
    finding.help = {"leave `drop_last` to loaders for training", {}};
    sink_.push_back(std::move(finding));
  }

  // Training goes over it as well, and it is no loader like another one that the same function makes.
  bool IsForTraining(ValueId loader, std::span<const objects::Site> made) const {
    if (made.size() != 1 || context_.index.CallersOf(made[0].function).size() > 1) return false;
    return std::ranges::any_of(context_.loading.loops(), [&](const objects::LoaderLoop& loop) {
      return loop.loader == loader && context_.training.TrainsOn(loop);
    });
  }

  // The loader itself, or the batch sampler that it is given; no batch of one sample is ever left out.
  bool DropsLast(ValueId loader) const {
    const auto drops = [&](ValueId object) {
      const ValueId drop = context_.values.MadeWith(object, "drop_last");
      const ValueId size = context_.values.MadeWith(object, "batch_size");
      return drop && context_.values.IsTrue(drop) && size &&
             std::ranges::none_of(context_.values.Leaves(size), [&](ValueId leaf) { return context_.values.Int(leaf) == 1; });
    };
    const ValueId batches = context_.values.MadeWith(loader, "batch_sampler");
    return drops(loader) || (batches && std::ranges::any_of(context_.values.Leaves(batches), [&](ValueId leaf) {
      return context_.values.IsA(leaf, "torch.utils.data.BatchSampler") && drops(leaf);
    }));
  }

  // A caller may drop what is there twice, the loader may be another, nobody may ever come here, and the mean of losses over batches is
  // rough anyway.
  bool IsSure(const objects::ShareUse& use) const {
    return !use.is_cut_above && !results_.loops()[use.loop].may_be_whole && !losses_.AreHandedTo(use.place) && results_.IsCalled(use.place) &&
           !IsStartedElsewhere(context_, use.place);
  }

  // A set of a round number of samples fits most jobs, and who asks for the rest knows of it.
  bool MayPad(ValueId sampler) const {
    const ValueId set = context_.values.MadeWith(sampler, "dataset");
    return !sizes_.IsCappedAtEven(set) && !sizes_.IsAskedForRest(context_.loading.MadeAt(sampler), set);
  }

  // One that repeats samples so that all ranks get equally many; none if there is no such.
  ValueId PaddingSamplerOf(ValueId loader) const {
    if (!loader) return ValueId::None();
    // Samples that are there twice come last.
    if (DropsLast(loader)) return ValueId::None();
    for (const ValueId sampler : context_.loading.DistributedSamplersOf(loader)) {
      const ValueId drop = context_.values.MadeWith(sampler, "drop_last");
      if (!drop || context_.values.IsFalse(drop)) return sampler;
    }
    return ValueId::None();
  }

  void AddSampler(ValueId sampler, Finding& finding) const {
    const std::vector<objects::Site> made = context_.loading.MadeAt(sampler);
    if (made.size() == 1) AddLabel(finding, SpanOf(context_, made[0]), LabelRole::Why, {"pads the data set", {}});
  }

  const Context& context_;
  FindingSink& sink_;
  const objects::ShareResults& results_;
  objects::SetSizes sizes_;
  objects::TrainedLosses losses_;
  objects::OneProcessModes modes_;
  std::vector<objects::Site> dropping_;  // loaders that were reported
  std::vector<FuncId> seen_;  // functions that put results together: several loops there are one evaluation
};

void CheckPaddedEvaluation(const Context& context, FindingSink& sink) { Evaluations(context, sink).Run(); }

}  // namespace

extern const Rule PaddedEvaluation = {
    .code = kAR309,
    .name = "padded-evaluation",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = "on public code 6 of 10 of its findings were right: the others are about sets whose size the ranks divide, which code seldom says, "
               "or stand in programs that fail first",
    .languages = "Python",
    .summary = "evaluation that counts the samples which the distributed sampler repeats, or leaves some out",
    .explanation = R"md(
## What it finds

A loop without training over a loader whose `DistributedSampler` does not drop the rest, or that
Accelerate prepared, and a call that puts what was computed there together over the ranks (`all_reduce`,
`all_gather`, `accelerator.gather`, a helper around these, a file of each rank that is read behind a
barrier), in its function or a caller. Once for each function that does that. It measures nothing: by how
much a result is off is at most the number of ranks less one, over the number of samples.

And the opposite: such a loop, of which something is shown, kept or put together, over a loader or a batch
sampler with `drop_last=True`. Each rank then leaves out up to a batch of its share.

## Why it hurts

`DistributedSampler` gives all ranks equally many samples by repeating the first ones. With 1,001 samples
on 8 ranks 7 count twice. The metric changes with the number of GPUs, by little on large sets and by much
on small ones, and results of two machines cannot be compared. With `drop_last=True` and batches of 64 the
same 8 ranks leave out 496 samples, 62 each.

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

* Of what counts twice: `drop_last=True` of the sampler or of the loader, or a sampler of the project.
* Of what is left out: batches of one sample, and a loader that training goes over as well.
* What was put together is cut (`[:n]`), made unique, or filed under something that comes with the sample,
  also by a helper that is handed it.
* The set was cut to a multiple of a number before (`n // world_size * world_size`).
* Ranks put together parts of one model, or hand batches on.
* A framework does it (`gather_for_metrics`).
* The loop trains: gradients are made in it, or a model was put into training mode before.

It is *possible*, and hidden by default, where only the loss that training lowers is put together; where a
caller cuts or files the result; where the set is the first `n` of a round number; where the program asks
for `len(dataset) % world_size` itself; where another loader may stand there; where nothing calls the
function; and where the commands of the project start ranks of other programs and of none that uses the file.

## Fix

There is none: where the results are cut depends on what they are.

## Proof

There is nothing to replay: all ranks agree, on too many samples.
)md",
    .check = CheckPaddedEvaluation};

}  // namespace allranks::rules
