#include <algorithm>

#include "analyzer/objects/one_process_modes.h"
#include "rules/finding_parts.h"
#include "rules/share_uses.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;
using findings::LabelRole;
using objects::ShareUse;
using objects::Site;

constexpr std::string_view kAR413 = "AR413";

class TrainingResults {
 public:
  TrainingResults(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), results_(context.shares.Get()),
        modes_(context.program, context.facts, context.index, context.guards, context.launch, context.options) {}

  void Run() {
    for (const ShareUse& use : results_.uses()) {
      const bool is_shown = use.kind == ShareUse::Kind::Shown && use.is_total && results_.loops()[use.loop].trains;
      if (is_shown && IsReached(context_, results_, use) && !DecidesToo(use)) Report(use);
    }
  }

 private:
  // AR405 tells of it then.
  bool DecidesToo(const ShareUse& shown) const {
    return std::ranges::any_of(results_.uses(), [&](const ShareUse& use) {
      const bool decides = use.kind == ShareUse::Kind::Chosen || use.kind == ShareUse::Kind::Stepped;
      return decides && use.loop == shown.loop && IsReached(context_, results_, use);
    });
  }

  void Report(const ShareUse& use) {
    if (std::ranges::count(seen_, use.loop) > 0) return;
    seen_.push_back(use.loop);
    const Site value{use.place.function, use.value};
    const bool is_sure = !results_.loops()[use.loop].may_be_whole && results_.IsCalled(use.place) && !IsStartedElsewhere(context_, use.place);
    Finding finding = FindingAt(context_, kAR413, Severity::Info, is_sure ? Confidence::Likely : Confidence::Possible, use.place,
                                {"`{}` is of {} batches only: it is shown as the result of the epoch",
                                 {Quoted(context_, value), std::string(WhoseShare(context_, use.place))}});
    findings::Assume(finding, modes_.AssumedAt({&use.place, 1}));
    AddLabel(finding, SpanOf(context_, value), LabelRole::Primary, {"differs between ranks", {}});
    AddLabel(finding, SpanOf(context_, results_.loops()[use.loop].iterable), LabelRole::Why, {"each rank trains on a share of the data", {}});
    AddReturn(context_, results_, use, finding);
    finding.help = {"reduce it over the ranks once an epoch, with `all_reduce`", {}};
    finding.is_in_preview = IsWithoutCommand(context_, use.place.function, finding);
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  const objects::ShareResults& results_;
  objects::OneProcessModes modes_;
  std::vector<size_t> seen_;
};

void CheckTrainingResultNotReduced(const Context& context, FindingSink& sink) { TrainingResults(context, sink).Run(); }

}  // namespace

extern const Rule TrainingResultNotReduced = {
    .code = kAR413,
    .name = "training-result-not-reduced",
    .severity = Severity::Info,
    .preview_in_part = "findings in programs that no command here starts on several ranks: 3 of the 5 that were read were right, and 12 of 12 of the others",
    .languages = "Python",
    .summary = "loss or accuracy of an epoch, counted on one rank's share of the training data and shown as the whole",
    .explanation = R"md(
## What it finds

A result of a whole pass over training data that is dealt out by rank (a distributed sampler, a loader
that Accelerate prepared, also where several calls hand theirs to one function), such as the mean loss or
the accuracy of the epoch, that nothing reduces over the ranks and that is printed, logged or written into a
table or a file behind the loop, also by a caller or a helper. Once for each loop.

## Why it hurts

On eight ranks the curve that people compare runs with is made of an eighth of the data. It is noisier than
that of one GPU with the same global batch, and it moves when the number of ranks changes. Training itself
is not harmed.

## Wrong

```python
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    total += loss.item()
if rank == 0:
    print(f"epoch {epoch}: {total / len(loader)}")
```

## Right

```python
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    total += loss.detach()
dist.all_reduce(total)
if rank == 0:
    print(f"epoch {epoch}: {total.item() / len(loader) / world_size}")
```

## When it is silent

* What is shown within the loop, batch by batch or every so many, and the loss of the last batch: that is
  what people watch while training.
* The result also decides which checkpoint is kept or moves the learning rate: AR405 says so.
* Values of several ranks are put together before, in the function or in what it calls, and the result may be
  among them. An evaluation in between that reduces its own does not count. What another arm of a test makes
  of it instead, or returns before, is taken to be for one process.
* What is printed holds the number of the rank, says only how many there are or how long it took, or is the
  path of a file.
* The result is kept in a field and read by another method.

It is *possible*, and hidden by default, where another loader may stand there that deals nothing out, where
nothing calls the function, and where the commands of the project start ranks of other programs and of none
that uses the file.

## Fix

There is none by `--fix`: what has to be summed up is not known.

## Proof

There is nothing to replay: nothing communicates.
)md",
    .check = CheckTrainingResultNotReduced};

}  // namespace allranks::rules
