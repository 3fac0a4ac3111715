#include <algorithm>
#include <utility>
#include <vector>

#include "rules/finding_parts.h"
#include "rules/optimisation/accumulation.h"

namespace allranks::rules {
namespace {

using objects::AccumulationWindow;
using objects::GradientAction;
using objects::GradientEvent;

constexpr std::string_view kAR410 = "AR410";

class Clips {
 public:
  Clips(const Context& context, FindingSink& sink) : context_(context), sink_(sink) {}

  void Run() {
    for (const AccumulationWindow& window : context_.accumulation.windows()) {
      if (window.has_other_optimizers) continue;
      ReportEachTime(window);
    }
    for (uint32_t f = 0; f < context_.program.funcs.size(); ++f) VisitScaled(FuncId{f});
  }

 private:
  bool IsSeen(const GradientEvent& clip) {
    const source::Span span = SpanOf(context_, clip.call.site);
    if (std::ranges::count(seen_, span) > 0) return true;
    seen_.push_back(span);
    return false;
  }

  // One finding for all clips of a window, such as those of the two branches of a test.
  void ReportEachTime(const AccumulationWindow& window) {
    std::vector<const GradientEvent*> clips;
    for (const GradientEvent& clip : window.clips) {
      if (!IsSeen(clip)) clips.push_back(&clip);
    }
    if (clips.empty()) return;
    Finding finding = FindingOfAnyProcess(context_, kAR410, Severity::Warning, Confidence::Likely, clips.front()->call.site,
                                          {"gradients are clipped in each micro-step, but the optimizer steps only {}: "
                                           "an incomplete sum is clipped, and the micro-batches get unequal weights",
                                           {std::string(HowOften(window.period))}});
    findings::Assume(finding, context_.launch.AssumedOf(window.function));
    AddLabel(finding, finding.span, LabelRole::Primary, {"every time", {}});
    for (size_t i = 1; i < clips.size(); ++i) AddLabel(finding, SpanOf(context_, clips[i]->call.site), LabelRole::Note, {"here as well", {}});
    AddLabel(finding, SpanOf(context_, window.step.call.site), LabelRole::Why, {HowOften(window.period), {}});
    finding.help = {"clip once, right before the optimizer steps", {}};
    sink_.push_back(std::move(finding));
  }

  // Clips before `scaler.step(optimizer)`, with no `unscale_` on the way to them: one finding a step, such as for those of two branches.
  void VisitScaled(FuncId function) {
    const std::vector<GradientEvent>& events = context_.accumulation.EventsOf(function);
    std::vector<std::pair<const GradientEvent*, std::vector<const GradientEvent*>>> clips_by_step;
    for (const GradientEvent& clip : events) {
      if (clip.call.action != GradientAction::Clip || clip.call.site.function != function) continue;
      const auto step = std::ranges::find_if(events, [&](const GradientEvent& event) { return IsScaledStepAfter(clip, event); });
      const bool is_unscaled = std::ranges::any_of(events, [&](const GradientEvent& event) {
        return event.call.action == GradientAction::Unscale && Begin(event) < Begin(clip) && MeetOnOneWay(event, clip);
      });
      if (step == events.end() || is_unscaled || !IsLossScaled(events, clip) || IsSeen(clip)) continue;
      auto same = std::ranges::find(clips_by_step, &*step, &decltype(clips_by_step)::value_type::first);
      if (same == clips_by_step.end()) same = clips_by_step.insert(same, {&*step, {}});
      same->second.push_back(&clip);
    }
    for (const auto& [step, clips] : clips_by_step) ReportScaled(clips, *step);
  }

  bool IsScaledStepAfter(const GradientEvent& clip, const GradientEvent& step) const {
    if (step.call.action != GradientAction::Step || step.call.site.function != clip.call.site.function) return false;
    const ir::Module& module = context_.program.module_of(step.call.site.function);
    const ir::Expr& callee = module[ir::CalleeOf(module[step.call.site.expr])];
    const bool is_by_scaler = callee.kind == ir::ExprKind::Attribute && step.call.object && ir::ObjectOf(callee) != step.call.object;
    const std::vector<ir::StmtId> clip_loops = context_.index.LoopsAround(clip.here);
    const std::vector<ir::StmtId> step_loops = context_.index.LoopsAround(step.here);
    return is_by_scaler && clip_loops == step_loops && Begin(clip) < Begin(step) && MeetOnOneWay(clip, step) && !IsOff(step, callee);
  }

  // `GradScaler(enabled=False)`.
  bool IsOff(const GradientEvent& step, const ir::Expr& callee) const {
    const variation::ValueId scaler = context_.facts.value(context_.program.funcs[step.call.site.function].module, ir::ObjectOf(callee));
    const std::vector<variation::ValueId> leaves = context_.values.Leaves(scaler);
    return std::ranges::any_of(leaves, [&](variation::ValueId leaf) {
      return !context_.values.IsA(leaf, "torch.amp.GradScaler") || context_.values.IsFalse(context_.values.MadeWith(leaf, "enabled"));
    });
  }

  // `scaler.scale(loss).backward()`: the last one before the clip, as another model may have been trained without a scaler.
  bool IsLossScaled(const std::vector<GradientEvent>& events, const GradientEvent& clip) const {
    const GradientEvent* last = nullptr;
    for (const GradientEvent& event : events) {
      if (event.call.action != GradientAction::Add || Begin(event) > Begin(clip) || !MeetOnOneWay(event, clip)) continue;
      if (last == nullptr || Begin(*last) < Begin(event)) last = &event;
    }
    if (last == nullptr || !last->call.object) return false;
    return context_.program.module_of(last->call.site.function)[last->call.object].kind == ir::ExprKind::Call;
  }

  uint32_t Begin(const GradientEvent& event) const {
    return context_.program.module_of(event.here.function)[event.here.expr].begin;
  }

  void ReportScaled(const std::vector<const GradientEvent*>& clips, const GradientEvent& step) {
    Finding finding = FindingOfAnyProcess(context_, kAR410, Severity::Warning, Confidence::Likely, clips.front()->call.site,
                                          {"gradients are clipped before `unscale_`, still multiplied by the scaler's "
                                           "factor: they end up thousands of times too small",
                                           {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"scaled gradients", {}});
    for (size_t i = 1; i < clips.size(); ++i) AddLabel(finding, SpanOf(context_, clips[i]->call.site), LabelRole::Note, {"here as well", {}});
    AddLabel(finding, SpanOf(context_, step.call.site), LabelRole::Note, {"unscales only here", {}});
    finding.help = {"call `scaler.unscale_(optimizer)` before clipping", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  std::vector<source::Span> seen_;
};

void CheckClipInMicroStep(const Context& context, FindingSink& sink) { Clips(context, sink).Run(); }

}  // namespace

extern const Rule ClipInMicroStep = {
    .code = kAR410,
    .name = "clip-in-micro-step",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "gradients clipped in each micro-step of an accumulation window, or before they are unscaled",
    .explanation = R"md(
## What it finds

A call that clips gradients in each round of a loop whose optimizer steps only once in several rounds. And a
clip before `scaler.step(optimizer)` where nothing called `scaler.unscale_(optimizer)` first.

## Why it hurts

In the second micro-step the gradients of the first are in the sum already: clipping cuts both, again and
again, so that early micro-batches count less than late ones, and the step is not the one that the whole batch
asks for. Gradients that a scaler has multiplied by 65536 are nearly always longer than the bound: all of them
are cut, and after the factor is taken out next to nothing is left.

## Wrong

```python
for i, batch in enumerate(loader):
    (model(batch).mean() / n).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if (i + 1) % n == 0:
        optimizer.step()
        optimizer.zero_grad()
```

## Right

```python
for i, batch in enumerate(loader):
    (model(batch).mean() / n).backward()
    if (i + 1) % n == 0:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
```

## When it is silent

* Several optimizers step in the same rounds: whose gradients are clipped is open.
* A framework knows which micro-step it is (`accelerator.clip_grad_norm_` under `accelerator.sync_gradients`).
* The scaler is not known to be one, or is made with `enabled=False`.

## Fix

There is none: the call has to move, with all that belongs to it.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckClipInMicroStep};

}  // namespace allranks::rules
