#include <algorithm>
#include <optional>

#include "rules/finding_parts.h"
#include "rules/optimisation/accumulation.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::Site;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kCode = "AR407";

class Micro {
 public:
  Micro(const Context& context, const Site& backward)
      : context_(context), backward_(backward), module_id_(context.program.funcs[backward.function].module),
        module_(context.program.modules[module_id_]) {}

  void Visit(FindingSink& sink) const {
    const ir::ExprId loss = LossOf();
    if (!loss || IsPeriodic(context_, backward_) || IsScaled(loss)) return;
    for (const Site& step : OptimizerSteps(context_, backward_.function)) {
      if (!IsPeriodic(context_, step) || !ShareTheirLoop(context_, step, backward_) || !MeetOnOneWay(context_, step, backward_)) continue;
      return Report(loss, step, sink);
    }
  }

 private:
  // `loss` of `loss.backward()` and of `scaler.scale(loss).backward()`. Frameworks divide by themselves.
  ir::ExprId LossOf() const {
    const ir::Expr& call = module_[backward_.expr];
    const ir::Expr& callee = module_[ir::CalleeOf(call)];
    if (callee.kind != ir::ExprKind::Attribute || context_.program.text(ir::AttrOf(callee)) != "backward") return {};
    if (ir::ArgCount(module_, call) > 0) return {};
    ir::ExprId loss = ir::ObjectOf(callee);
    const bool is_scaler = module_[loss].kind == ir::ExprKind::Call && MethodOf(context_, {backward_.function, loss}) == "scale" &&
                           ir::ArgCount(module_, module_[loss]) == 1;
    return is_scaler ? ir::ArgAt(module_, module_[loss], 0).value : loss;
  }

  // Something divides it, or it is a sum, or what makes it is handed the number of steps.
  bool IsScaled(ir::ExprId loss) const {
    const std::string text = TextWithOrigins(context_, {backward_.function, loss});
    const ir::Function& node = context_.program.function(backward_.function);
    const std::string_view body = TextOf(context_, {module_.file, node.begin, node.end});
    if (HoldsWord(text, {"/", "*", "accum", "scale"})) return true;
    if (module_[loss].kind == ir::ExprKind::Name) {
      const std::string name(TextOf(context_, module_id_, loss));
      if (HoldsWord(body, {name + " /=", name + " *=", name + "/=", name + ".div_", name + ".mul_"})) return true;
    }
    // Gradients are divided before the step, or the framework was told the number.
    if (HoldsWord(body, {".grad.div_", ".grad /=", ".grad.mul_", "multiply_grad", "scale_grad", "reduction=\"sum\"", "reduction='sum'", "accelerat", "fabric", "deepspeed"})) return true;
    return !IsLossSeen(loss);
  }

  // A loss of unknown making may be divided where it is made.
  bool IsLossSeen(ir::ExprId loss) const {
    if (module_[loss].kind != ir::ExprKind::Name) return true;
    const ValueId value = context_.facts.value(module_id_, loss);
    return value && !context_.values.AnyPart(value, [&](ValueId part) {
      const variation::Value& node = context_.facts.values_store[part];
      return node.kind == ValueKind::Binary && (static_cast<ir::BinaryOp>(node.op) == ir::BinaryOp::Div ||
                                                static_cast<ir::BinaryOp>(node.op) == ir::BinaryOp::Mul);
    });
  }

  void Report(ir::ExprId loss, const Site& step, FindingSink& sink) const {
    Finding finding = FindingAt(context_, kCode, Severity::Warning, Confidence::Likely, backward_,
                                {"gradients of several micro-steps are added up, but `{}` is not divided by their number: a step is as many "
                                 "times too large",
                                 {Quoted(context_, {backward_.function, loss})}});
    AddLabel(finding, SpanOf(context_, {backward_.function, loss}), LabelRole::Primary, {"a mean over one micro-batch", {}});
    AddLabel(finding, SpanOf(context_, step), LabelRole::Why, {"every n-th time", {}});
    finding.help = {"divide the loss by the number of micro-steps", {}};
    AddFix(loss, step, finding);
    sink.push_back(std::move(finding));
  }

  // By the divisor of the remainder, as it is written in the test.
  void AddFix(ir::ExprId loss, const Site& step, Finding& finding) const {
    const std::optional<objects::Guard> guard = PeriodicGuard(context_, step);
    if (!guard || guard->function != backward_.function || module_[loss].kind != ir::ExprKind::Name) return;
    const std::string divisor = DivisorIn(guard->test);
    if (divisor.empty()) return;
    const std::string text(TextOf(context_, module_id_, loss));
    const bool is_plain = module_[ir::ObjectOf(module_[ir::CalleeOf(module_[backward_.expr])])].kind == ir::ExprKind::Name;
    finding.fixes.push_back(MakeFix("divide the loss by the number of micro-steps", Applicability::Unsafe,
                                    {Replace(module_.span(loss), is_plain ? "(" + text + " / " + divisor + ")" : text + " / " + divisor)}));
  }

  std::string DivisorIn(ir::ExprId test) const {
    for (const ir::ExprId id : context_.index.ExprsOf(module_id_, ir::ExprKind::Binary)) {
      const ir::Expr& expr = module_[id];
      const bool is_inside = expr.begin >= module_[test].begin && expr.end <= module_[test].end;
      if (!is_inside || static_cast<ir::BinaryOp>(expr.op) != ir::BinaryOp::Mod) continue;
      const ir::ExprKind kind = module_[ir::RightOf(expr)].kind;
      const bool is_simple = kind == ir::ExprKind::Name || kind == ir::ExprKind::Attribute || kind == ir::ExprKind::Constant;
      return is_simple ? std::string(TextOf(context_, module_id_, ir::RightOf(expr))) : std::string();
    }
    return {};
  }

  const Context& context_;
  Site backward_;
  ir::ModuleId module_id_;
  const ir::Module& module_;
};

void Check(const Context& context, FindingSink& sink) {
  for (const Site& backward : context.training.backwards()) Micro(context, backward).Visit(sink);
}

}  // namespace

extern const Rule AccumulationLossNotScaled = {
    .code = kCode,
    .name = "accumulation-loss-not-scaled",
    .severity = Severity::Warning,
    .languages = "Python",
    .summary = "accumulated gradients of a loss that is not divided by the number of micro-steps",
    .explanation = R"md(
## What it finds

`loss.backward()` in each round of a loop in which the optimizer steps only every n-th time, where nothing in
the function multiplies or divides that loss.

## Why it hurts

`backward` adds to the gradients. The mean over one micro-batch, added up eight times, is eight times the mean
over the whole batch: the learning rate is in effect eight times as large, and clipping acts on gradients
eight times as long. With SGD training diverges, or needs a rate that depends on the number of micro-steps.

## Wrong

```python
for i, batch in enumerate(loader):
    loss = model(batch).mean()
    loss.backward()
    if (i + 1) % n == 0:
        optimizer.step()
        optimizer.zero_grad()
```

## Right

```python
for i, batch in enumerate(loader):
    loss = model(batch).mean() / n
    loss.backward()
    if (i + 1) % n == 0:
        optimizer.step()
        optimizer.zero_grad()
```

## When it is silent

* The loss is multiplied or divided by anything, here or in a function of the project that makes it.
* The gradients are divided before the step.
* A framework computes the gradients (`accelerator.backward`, a DeepSpeed engine, Fabric).

## Fix

`--unsafe-fixes` divides the loss by the divisor of the test. It is not safe, as the rate may have been tuned.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = Check,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
