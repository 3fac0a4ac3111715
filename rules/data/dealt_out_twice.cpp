#include <algorithm>
#include <set>

#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kAR313 = "AR313";

class Deals {
 public:
  Deals(const Context& context, FindingSink& sink) : context_(context), sink_(sink) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (call.entry->Has(knowledge::Role::DealsOut)) VisitCall(call);
    }
  }

 private:
  void VisitCall(const KnownCall& call) {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
      const Site given{call.function, ir::ArgAt(module, module[call.expr], i).value};
      const ValueId value = context_.facts.value(module_id, given.expr);
      if (!value) continue;
      for (const ValueId leaf : context_.values.Leaves(value)) {
        if (context_.loading.IsLoader(leaf)) VisitLoader(call, given, leaf);
      }
    }
  }

  // On every path of a job: where only one arm has such a sampler, the other may be the one that is prepared.
  void VisitLoader(const KnownCall& call, const Site& given, ValueId loader) {
    const ValueId given_sampler = context_.values.MadeWith(loader, "sampler");
    std::vector<ValueId> samplers = given_sampler ? context_.values.LeavesIn(given_sampler, objects::SmallJob(context_.facts.job)) : std::vector<ValueId>();
    std::erase_if(samplers, [&](ValueId leaf) { return context_.values.IsNone(leaf); });
    const auto deals_out = [&](ValueId sampler) { return context_.loading.IsDistributedSampler(sampler); };
    if (samplers.empty() || !std::ranges::all_of(samplers, deals_out)) return;
    const Site place = MadeFor(call, given, loader);
    const source::Span span = SpanOf(context_, place);
    if (!seen_.insert({span.file.index, span.begin}).second) return;
    Finding finding = FindingAt(context_, kAR313, Severity::Error, Confidence::Likely, place,
                                {"each rank reads a share of its share: `{}` deals out what a `DistributedSampler` has dealt out",
                                 {std::string(context_.program.text(call.entry->name))}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"gets the share of one rank", {}});
    for (const Site& sampler : context_.loading.MadeAt(samplers[0])) {
      AddLabel(finding, SpanOf(context_, sampler), LabelRole::Why, {"deals the data set out", {}});
      break;
    }
    AddLabel(finding, SpanOf(context_, {call.function, call.expr}), LabelRole::Why, {"deals the batches out once more", {}});
    finding.help = {"leave the sampler out, and pass `shuffle=True`", {}};
    sink_.push_back(std::move(finding));
  }

  // Where the loader is made: there, if that may have been in several places.
  Site MadeFor(const KnownCall& call, const Site& given, ValueId loader) const {
    const std::vector<Site> made = context_.loading.MadeAt(loader);
    const auto is_here = [&](const Site& site) { return site.function == call.function; };
    const auto here = std::ranges::find_if(made, is_here);
    if (here != made.end()) return *here;
    return made.size() == 1 ? made[0] : given;
  }

  const Context& context_;
  FindingSink& sink_;
  std::set<std::pair<uint32_t, uint32_t>> seen_;
};

void CheckDealtOutTwice(const Context& context, FindingSink& sink) { Deals(context, sink).Run(); }

}  // namespace

extern const Rule DealtOutTwice = {
    .code = kAR313,
    .name = "dealt-out-twice",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "Python",
    .summary = "loader with a distributed sampler that a framework splits over the ranks again",
    .explanation = R"md(
## What it finds

A `DataLoader` with a `DistributedSampler` that is handed to `accelerator.prepare`. Accelerate gives each rank
every n-th batch of a loader, whatever sampler it has.

## Why it hurts

On 8 ranks each rank reads an eighth of its eighth. Seven of eight samples are never seen in an epoch, and
nothing says so: the epoch is shorter, and the model is worse.

## Wrong

```python
loader = DataLoader(dataset, 32, sampler=DistributedSampler(dataset))
model, loader = accelerator.prepare(model, loader)
```

## Right

```python
loader = DataLoader(dataset, 32, shuffle=True)
model, loader = accelerator.prepare(model, loader)
```

## When it is silent

* The loader may have another sampler, or none, in a job of several processes.
* The loader is not prepared.

## Fix

There is none: whether the loader shuffles is said by the sampler.

## Proof

There is nothing to replay: the ranks agree, and read too little.
)md",
    .check = CheckDealtOutTwice};

}  // namespace allranks::rules
