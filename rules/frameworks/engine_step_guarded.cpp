#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

using objects::GradientEvent;

constexpr std::string_view kAR706 = "AR706";

// The program tells the engine itself which micro-step is the last.
bool SetsBoundary(const Context& context, ProgramCalls& calls, ir::ModuleId module) {
  const base::NameId name = context.program.names->Find("set_gradient_accumulation_boundary");
  return name && std::ranges::any_of(calls.FilesOf(module), [&](ir::ModuleId file) {
    return std::ranges::any_of(context.index.ExprsOf(file, ir::ExprKind::Attribute), [&](ir::ExprId id) {
      return ir::AttrOf(context.program.modules[file][id]) == name;
    });
  });
}

bool IsKnownEngine(const Context& context, const objects::Site& object) {
  const auto leaves = context.values.Leaves(context.facts.value(context.program.funcs[object.function].module, object.expr));
  return std::ranges::any_of(leaves, [&](variation::ValueId leaf) { return context.values.IsA(leaf, "deepspeed.DeepSpeedEngine"); });
}

void VisitStep(const Context& context, FuncId function, const GradientEvent& step, std::vector<source::Span>& seen, FindingSink& sink) {
  const std::optional<objects::Period> period = context.accumulation.PeriodOf(function, step);
  if (!period || period->form == objects::PeriodForm::InnerLoop || !period->guard) return;
  if (!IsKnownEngine(context, {step.call.site.function, step.call.object})) return;
  const bool adds_each_time = std::ranges::any_of(context.accumulation.EventsOf(function), [&](const GradientEvent& event) {
    return event.call.action == objects::GradientAction::Add && event.call.by_engine && !context.accumulation.PeriodOf(function, event) &&
           MeetOnOneWay(event, step);
  });
  const source::Span span = SpanOf(context, step.call.site);
  if (!adds_each_time || std::ranges::count(seen, span) > 0) return;
  seen.push_back(span);
  Finding finding = FindingAt(context, kAR706, Severity::Error, Confidence::Likely, step.call.site,
                              {"the engine steps only every n-th time, but it counts micro-steps by calls of "
                               "`step`: it accumulates n times as many as configured",
                               {}});
  AddLabel(finding, finding.span, LabelRole::Primary, {"the engine itself decides which call updates parameters", {}});
  AddLabel(finding, SpanOf(context, {period->guard->function, period->guard->test}), LabelRole::Condition, {"hides micro-steps from the engine", {}});
  finding.help = {"call `step` after each `backward`; `gradient_accumulation_steps` sets the number of micro-steps", {}};
  sink.push_back(std::move(finding));
}

void CheckEngineStepGuarded(const Context& context, FindingSink& sink) {
  ProgramCalls calls(context);
  std::vector<source::Span> seen;
  for (uint32_t f = 0; f < context.program.funcs.size(); ++f) {
    for (const GradientEvent& event : context.accumulation.EventsOf(FuncId{f})) {
      const bool is_step = event.call.action == objects::GradientAction::Step && event.call.by_engine;
      if (!is_step || SetsBoundary(context, calls, context.program.funcs[FuncId{f}].module)) continue;
      VisitStep(context, FuncId{f}, event, seen, sink);
    }
  }
}

}  // namespace

extern const Rule EngineStepGuarded = {
    .code = kAR706,
    .name = "engine-step-guarded",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "Python",
    .summary = "`step` of a DeepSpeed engine under a remainder of the micro-step, which the engine counts itself",
    .explanation = R"md(
## What it finds

`engine.step()` that a remainder, a counter or the last round of a loop lets through only every n-th
time, while `engine.backward(loss)` runs each time.

## Why it hurts

A DeepSpeed engine counts its calls of `step`: all but every `gradient_accumulation_steps`-th do
nothing but count. Called every n-th time only, the boundary comes n times too late, or, with a
setting of 1, gradients are reduced in every micro-step and, under ZeRO 2 and 3, those of the
micro-steps in between are overwritten. The batch that the logs speak of is not the one that is
trained.

## Wrong

```python
engine.backward(loss)
if (i + 1) % n == 0:
    engine.step()
```

## Right

```python
engine.backward(loss)
engine.step()
```

## When it is silent

* The object is not known to be an engine.
* The program calls `set_gradient_accumulation_boundary`.
* `backward` stands under the same test.

## Fix

There is none: the configuration has to say the number of micro-steps.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckEngineStepGuarded};

}  // namespace allranks::rules
