#include <algorithm>

#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using variation::ValueId;

constexpr std::string_view kAR707 = "AR707";
constexpr std::string_view kEngine = "deepspeed.DeepSpeedEngine";

// PyTorch's own functions; those of frameworks know what they clip.
bool IsPlainClip(const Context& context, const KnownCall& call) {
  return call.entry->Has(knowledge::Role::ClipGradients) && context.program.text(call.entry->name).starts_with("torch.nn.utils.");
}

// Whether gradients of an engine are computed in the function: else its parameters may be those of before.
bool GivesLossToEngine(const Context& context, FuncId function) {
  return std::ranges::any_of(context.accumulation.EventsOf(function), [](const objects::GradientEvent& event) {
    return event.call.by_engine && event.call.action == objects::GradientAction::Add;
  });
}

void CheckClipBesideEngine(const Context& context, FindingSink& sink) {
  for (const KnownCall& call : context.index.known_calls()) {
    if (!IsPlainClip(context, call) || !GivesLossToEngine(context, call.function)) continue;
    const ValueId parameters = context.index.Arg(call, "parameters");
    const bool is_of_engine = context.values.AnyPart(parameters, [&](ValueId part) { return context.values.IsA(part, kEngine); });
    if (!is_of_engine) continue;
    const objects::Site site{call.function, call.expr};
    Finding finding = FindingAt(context, kAR707, Severity::Error, Confidence::Likely, site,
                                {"these parameters belong to a DeepSpeed engine, which keeps its gradients "
                                 "elsewhere: nothing is clipped, or only this rank's part",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"does not see the engine's gradients", {}});
    finding.help = {"set `gradient_clipping` in the configuration of the engine", {}};
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule ClipBesideEngine = {
    .code = kAR707,
    .name = "clip-beside-engine",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "Python",
    .summary = "`clip_grad_norm_` on the parameters of a DeepSpeed engine",
    .explanation = R"md(
## What it finds

`torch.nn.utils.clip_grad_norm_` or `clip_grad_value_` on the parameters of a DeepSpeed engine, in a
function that hands the engine its loss.

## Why it hurts

The engine moves gradients into buffers of its own while `backward` runs: under ZeRO, and with fp16
and bf16, `param.grad` is empty or holds this rank's part before scaling. The call returns a norm of
0 or of a part, clips nothing, and training goes on without the clipping that somebody relies on.

## Wrong

```python
engine.backward(loss)
torch.nn.utils.clip_grad_norm_(engine.parameters(), 1.0)
engine.step()
```

## Right

```python
engine, _, _, _ = deepspeed.initialize(model=model, config={"gradient_clipping": 1.0})
engine.backward(loss)
engine.step()
```

## When it is silent

* The parameters are not known to be those of an engine.
* A function of a framework clips them (`accelerator.clip_grad_norm_`).

## Fix

There is none: the configuration may stand in another file.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckClipBesideEngine};

}  // namespace allranks::rules
