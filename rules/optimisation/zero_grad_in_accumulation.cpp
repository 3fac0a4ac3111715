#include <algorithm>
#include <optional>

#include "rules/finding_parts.h"
#include "rules/optimisation/accumulation.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kCode = "AR404";

// Whether it is done in each round in which gradients are added: under no test of its own.
bool IsDoneEachTime(const Context& context, const objects::Site& clear, const objects::Site& backward) {
  const std::vector<objects::Guard> others = context.reach.Guards(backward);
  return std::ranges::all_of(context.reach.Guards(clear), [&](const objects::Guard& guard) {
    return std::ranges::any_of(others, [&](const objects::Guard& other) { return other.test == guard.test && other.holds == guard.holds; });
  });
}

// Moves the clearing behind the step, if each is a line of its own.
void AddFix(const Context& context, const objects::Site& clear, const objects::Site& step, Finding& finding) {
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
  if (OptimizerSteps(context, step.function).size() > 1) return;
  finding.fixes.push_back(
      MakeFix("clear the gradients where the optimizer has stepped", Applicability::Unsafe,
              {RemoveLine(context, module_id, clear_stmt),
               InsertAfter(context, module_id, step_stmt, TextOf(context, module.span(clear_stmt)))}));
}

void Visit(const Context& context, const objects::Site& backward, std::vector<source::Span>& seen, FindingSink& sink) {
  if (IsPeriodic(context, backward)) return;
  std::optional<objects::Site> step;
  for (const objects::Site& site : OptimizerSteps(context, backward.function)) {
    if (IsPeriodic(context, site) && ShareTheirLoop(context, site, backward) && MeetOnOneWay(context, site, backward)) step = site;
  }
  if (!step) return;
  for (const objects::Site& clear : MethodCalls(context, backward.function, "zero_grad")) {
    if (!ShareTheirLoop(context, clear, backward) || !IsDoneEachTime(context, clear, backward)) continue;
    const source::Span span = SpanOf(context, clear);
    if (std::ranges::count(seen, span) > 0) continue;
    seen.push_back(span);
    Finding finding = FindingAt(context, kCode, Severity::Error, Confidence::Likely, clear,
                                {"gradients are cleared in every micro-step, but the optimizer steps only every n-th time: "
                                 "all but the last micro-batch is thrown away",
                                 {}});
    AddLabel(finding, span, LabelRole::Primary, {"every time", {}});
    AddLabel(finding, SpanOf(context, backward), LabelRole::Note, {"adds to the gradients", {}});
    AddLabel(finding, SpanOf(context, *step), LabelRole::Why, {"every n-th time", {}});
    finding.help = {"clear the gradients where the optimizer has stepped", {}};
    AddFix(context, clear, *step, finding);
    sink.push_back(std::move(finding));
  }
}

void Check(const Context& context, FindingSink& sink) {
  std::vector<source::Span> seen;
  for (const objects::Site& backward : context.training.backwards()) Visit(context, backward, seen, sink);
}

}  // namespace

extern const Rule ZeroGradInAccumulation = {
    .code = kCode,
    .name = "zero-grad-in-accumulation",
    .severity = Severity::Error,
    .languages = "Python",
    .summary = "gradients cleared in every micro-step although the optimizer steps every n-th time only",
    .explanation = R"md(
## What it finds

A `zero_grad` in the same rounds as `backward`, where the optimizer steps only when a remainder says so (`step
% accumulation == 0`), directly or through a variable.

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

## Fix

`--unsafe-fixes` moves the clearing to where the optimizer has stepped, if each is a line of its own and there
is one step. It is not safe, as code in between may rely on its place.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = Check,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
