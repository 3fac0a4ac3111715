#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/optimisation/accumulation.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::AccumulationWindow;

constexpr std::string_view kAR404 = "AR404";

// Moves the clearing behind the step, if each is a line of its own.
void AddClearFix(const Context& context, const AccumulationWindow& window, const objects::Site& clear, Finding& finding) {
  const objects::Site step = window.step.call.site;
  if (step.function != clear.function || !window.period.guard) return;
  const ir::ModuleId module_id = context.program.funcs[clear.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const ir::StmtId clear_stmt = context.index.StatementOf(clear);
  const ir::StmtId step_stmt = context.index.StatementOf(step);
  for (const ir::StmtId stmt : {clear_stmt, step_stmt}) {
    if (!stmt || module[stmt].kind != ir::StmtKind::Expr || !BeginsLine(context, module_id, stmt)) return;
  }
  const ir::BlockId block = context.index.tree(module_id).BlockOf(clear_stmt);
  if (ir::ValueOf(module[clear_stmt]) != clear.expr || module.statements(block).size() < 2) return;
  // Several steps, one for each kind of precision: behind which of them is not for this fix to say.
  const auto steps = std::ranges::count_if(context.accumulation.EventsOf(clear.function), [](const objects::GradientEvent& event) {
    return event.call.action == objects::GradientAction::Step;
  });
  if (steps > 1) return;
  finding.fixes.push_back(
      MakeFix("clear the gradients right after the optimizer steps", Applicability::Unsafe,
              {RemoveLine(context, module_id, clear_stmt),
               InsertAfter(context, module_id, step_stmt, TextOf(context, module.span(clear_stmt)))}));
}

void ReportClear(const Context& context, const AccumulationWindow& window, const objects::Site& clear, FindingSink& sink) {
  Finding finding = FindingOfAnyProcess(context, kAR404, Severity::Error, Confidence::Likely, clear,
                                        {"gradients are cleared in each micro-step, but the optimizer steps only {}: "
                                         "the gradients of all but the last micro-batch are lost",
                                         {std::string(HowOften(window.period))}});
  // The window may be one of a test that comes here through methods of the program.
  findings::Assume(finding, context.launch.AssumedOf(window.function));
  AddLabel(finding, finding.span, LabelRole::Primary, {"every time", {}});
  AddLabel(finding, SpanOf(context, window.adds.front().call.site), LabelRole::Note, {"adds to the gradients", {}});
  AddLabel(finding, SpanOf(context, window.step.call.site), LabelRole::Why, {HowOften(window.period), {}});
  finding.help = {"clear the gradients right after the optimizer steps", {}};
  AddClearFix(context, window, clear, finding);
  sink.push_back(std::move(finding));
}

void CheckZeroGradInAccumulation(const Context& context, FindingSink& sink) {
  std::vector<source::Span> seen;
  for (const AccumulationWindow& window : context.accumulation.windows()) {
    for (const objects::GradientEvent& clear : window.clears) {
      const source::Span span = SpanOf(context, clear.call.site);
      if (std::ranges::count(seen, span) > 0) continue;
      seen.push_back(span);
      ReportClear(context, window, clear.call.site, sink);
    }
  }
}

}  // namespace

extern const Rule ZeroGradInAccumulation = {
    .code = kAR404,
    .name = "zero-grad-in-accumulation",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "gradients cleared in every micro-step although the optimizer steps every n-th time only",
    .explanation = R"md(
## What it finds

A `zero_grad` in the same rounds as `backward`, where the optimizer that it clears steps only once
in several rounds: when a remainder says so (`step % accumulation == 0`, directly or through a
variable), when a counter is full that is then set back, in the last round of a loop over
micro-batches, or behind that loop. Optimizers are known by what they are and what is done with
them, whatever they are called, and through helper functions.

## Why it hurts

Accumulation adds the gradients of several micro-batches up. Cleared each time, only those of the last one are
there when the optimizer steps: with 8 micro-batches seven eighths of the work are thrown away, and the batch
is an eighth of what the logs say. The loss goes down, more slowly and with more noise.

## Wrong

```python
for i, batch in enumerate(loader):
    optimizer.zero_grad()
    (model(batch).mean() / n).backward()
    if (i + 1) % n == 0:
        optimizer.step()
```

## Right

```python
for i, batch in enumerate(loader):
    (model(batch).mean() / n).backward()
    if (i + 1) % n == 0:
        optimizer.step()
        optimizer.zero_grad()
```

## When it is silent

* The clearing is under a test of a remainder as well.
* The micro-steps are a loop of their own, and the clearing stands outside of it.
* The optimizer steps each time.
* `backward` stands under the test of the step as well, and another optimizer steps each time:
  a generator that is trained every n-th time.

## Fix

`--unsafe-fixes` moves the clearing to where the optimizer has stepped, if each is a line of its own and there
is one step. It is not safe, as code in between may rely on its place.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckZeroGradInAccumulation,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
