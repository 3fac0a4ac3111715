#include <algorithm>
#include <optional>

#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kCode = "AR404";

// A test that comes true every n-th time: it asks for a remainder.
bool IsPeriodic(const Context& context, const objects::Guard& guard) {
  const ValueId value = context.facts.value(context.program.funcs[guard.function].module, guard.test);
  return value && context.values.AnyPart(value, [&](ValueId part) {
    const variation::Value& node = context.facts.values_store[part];
    return node.kind == ValueKind::Binary && static_cast<ir::BinaryOp>(node.op) == ir::BinaryOp::Mod && node.axes.empty();
  });
}

bool IsPeriodic(const Context& context, const objects::Site& site) {
  const std::vector<objects::Guard> guards = context.reach.Guards(site);
  return std::ranges::any_of(guards, [&](const objects::Guard& guard) { return IsPeriodic(context, guard); });
}

// Calls of a method of this name in a function: `optimizer.step()`.
std::vector<objects::Site> CallsOf(const Context& context, FuncId function, std::string_view method, std::string_view object) {
  std::vector<objects::Site> sites;
  const ir::ModuleId module_id = context.program.funcs[function].module;
  const ir::Module& module = context.program.modules[module_id];
  for (uint32_t i = 0; i < module.exprs.size(); ++i) {
    const ir::ExprId id{i};
    if (module[id].kind != ir::ExprKind::Call || FunctionAround(context, module_id, id) != function) continue;
    const ir::Expr& callee = module[ir::CalleeOf(module[id])];
    if (callee.kind != ir::ExprKind::Attribute || context.program.text(ir::AttrOf(callee)) != method) continue;
    if (TextOf(context, module_id, ir::ObjectOf(callee)).find(object) != std::string_view::npos) sites.push_back({function, id});
  }
  return sites;
}

// Whether both stand on one way through the function: no test is asked to come out both ways.
bool MeetOnOneWay(const Context& context, const objects::Site& a, const objects::Site& b) {
  const std::vector<objects::Guard> left = context.reach.Guards(a);
  const std::vector<objects::Guard> right = context.reach.Guards(b);
  return std::ranges::none_of(left, [&](const objects::Guard& one) {
    return std::ranges::any_of(right, [&](const objects::Guard& other) {
      return one.test == other.test && one.holds != other.holds;
    });
  });
}

// Whether `outer` is a loop around one site and not around the other: each has rounds of its own.
bool ShareTheirLoop(const Context& context, const objects::Site& a, const objects::Site& b) {
  const std::vector<ir::StmtId> left = context.index.LoopsAround(a);
  const std::vector<ir::StmtId> right = context.index.LoopsAround(b);
  return left.empty() == right.empty() && (left.empty() || left.front() == right.front());
}

void Visit(const Context& context, const objects::Site& backward, std::vector<source::Span>& seen, FindingSink& sink) {
  if (IsPeriodic(context, backward)) return;
  std::optional<objects::Site> step;
  for (const std::string_view object : {"optim", "scaler"}) {
    for (const objects::Site& site : CallsOf(context, backward.function, "step", object)) {
      if (IsPeriodic(context, site) && ShareTheirLoop(context, site, backward) && MeetOnOneWay(context, site, backward)) step = site;
    }
  }
  if (!step) return;
  for (const objects::Site& clear : CallsOf(context, backward.function, "zero_grad", "")) {
    if (IsPeriodic(context, clear) || !ShareTheirLoop(context, clear, backward) || !MeetOnOneWay(context, clear, backward)) continue;
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

A `zero_grad` in the same rounds as `backward`, where the optimizer steps only when a remainder says so
(`step % accumulation == 0`), directly or through a variable.

## Why it hurts

Accumulation adds the gradients of several micro-batches up. Cleared each time, only those of the last one
are there when the optimizer steps: with 8 micro-batches seven eighths of the work are thrown away, and the
batch is an eighth of what the logs say. The loss goes down, more slowly and with more noise.

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

Move the clearing to where the optimizer has stepped. Code in between may rely on its place, so it is
not moved automatically.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = Check};

}  // namespace allranks::rules
