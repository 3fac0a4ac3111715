#include <algorithm>
#include <optional>

#include "rules/finding_parts.h"
#include "rules/optimisation/accumulation.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::AccumulationWindow;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR407 = "AR407";

// A framework that is handed the loss, or wraps the model, divides by itself.
constexpr std::string_view kFrameworks[] = {"accelerate.Prepared", "accelerate.Accelerator", "deepspeed.DeepSpeedEngine",
                                            "lightning.fabric.Prepared", "lightning.fabric.Fabric"};

bool IsScaling(ir::BinaryOp op) { return op == ir::BinaryOp::Div || op == ir::BinaryOp::Mul; }

class Micro {
 public:
  Micro(const Context& context, const AccumulationWindow& window, const Site& backward)
      : context_(context), window_(window), backward_(backward),
        module_id_(context.program.funcs[backward.function].module), module_(context.program.modules[module_id_]) {}

  void Visit(FindingSink& sink) const {
    const ir::ExprId loss = LossOf(context_, backward_);
    if (!loss || window_.has_other_optimizers || IsScaled(loss) || ScalesGradients()) return;
    Report(loss, sink);
  }

 private:
  // Something multiplies or divides it, it is a sum, or what makes it is handed the number of steps. What is made by
  // code that is not seen, of nothing that is seen, may be any of this.
  bool IsScaled(ir::ExprId loss) const {
    const ValueId value = context_.facts.value(module_id_, loss);
    if (!value || IsChangedInPlace(loss)) return true;
    const ValueKind kind = context_.facts.values_store[value].kind;
    if (kind == ValueKind::Unknown || kind == ValueKind::Param) return true;
    return context_.values.AnyPart(value, [&](ValueId part) {
      const variation::Value& node = context_.facts.values_store[part];
      if (part == window_.period.length && !variation::IsConstant(node)) return true;
      if (node.kind == ValueKind::Binary && IsScaling(node.binary_op())) return true;
      if (context_.values.Str(part) == "sum") return true;
      return std::ranges::any_of(kFrameworks, [&](std::string_view known) { return context_.values.IsA(part, known); });
    });
  }

  // `loss.div_(n)`, `loss /= n`.
  bool IsChangedInPlace(ir::ExprId loss) const {
    const auto changes = [&](ir::ExprId object) { return objects::IsSameChain(module_, object, loss); };
    return ChangesByFactor(backward_.function, changes);
  }

  // Gradients are multiplied or divided before the step: `p.grad /= n`, or a method of the optimizer that is not known.
  bool ScalesGradients() const {
    std::vector<FuncId> functions = {window_.function, window_.step.call.site.function};
    for (size_t i = 0; i < functions.size() && functions.size() < kMostFunctions; ++i) {
      const ir::Module& module = context_.program.module_of(functions[i]);
      const auto is_gradient = [&](ir::ExprId object) {
        return module[object].kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(module[object])) == "grad";
      };
      if (ChangesByFactor(functions[i], is_gradient)) return true;
      for (const auto& [expr, fact] : context_.facts.functions[functions[i]].calls) {
        const bool is_new = fact.function && std::ranges::find(functions, fact.function) == functions.end();
        if (is_new && i < 2) functions.push_back(fact.function);
        if (fact.kind != variation::CallKind::Function && IsOwnScaling({functions[i], expr})) return true;
      }
    }
    return false;
  }

  // `optimizer.multiply_grads(factor)` of an optimizer that is no plain one.
  bool IsOwnScaling(const Site& call) const {
    const ir::Module& module = context_.program.module_of(call.function);
    const std::string_view method = MethodOf(context_, call);
    if (method.empty() || ir::ArgCount(module, module[call.expr]) == 0) return false;
    const variation::CallFact* fact = context_.facts.call(call.function, call.expr);
    if (fact == nullptr || fact->kind == variation::CallKind::Known) return false;
    constexpr std::string_view kPlain[] = {"step", "zero_grad", "load_state_dict", "add_param_group", "unscale_", "update", "scale"};
    if (std::ranges::count(kPlain, method) > 0) return false;
    const Site stepped{window_.step.call.site.function, window_.step.call.object};
    return context_.accumulation.calls().IsSameObject({call.function, ir::ObjectOf(module[ir::CalleeOf(module[call.expr])])}, stepped);
  }

  template <class IsWanted>
  bool ChangesByFactor(FuncId function, IsWanted is_wanted) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Function& node = context_.program.function(function);
    for (const ir::Stmt& stmt : module.stmts) {
      if (stmt.kind != ir::StmtKind::AugAssign || stmt.begin < node.begin || stmt.end > node.end) continue;
      if (IsScaling(static_cast<ir::BinaryOp>(stmt.op)) && is_wanted(ir::ValueOf(stmt))) return true;
    }
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Call)) {
      if (module[id].begin < node.begin || module[id].end > node.end) continue;
      const std::string_view method = MethodOf(context_, {function, id});
      if (method != "div_" && method != "mul_") continue;
      ir::ExprId object = ir::ObjectOf(module[ir::CalleeOf(module[id])]);
      if (is_wanted(object)) return true;
      if (module[object].kind == ir::ExprKind::Attribute && is_wanted(ir::ObjectOf(module[object]))) return true;
    }
    return false;
  }

  void Report(ir::ExprId loss, FindingSink& sink) const {
    Finding finding = FindingOfAnyProcess(context_, kAR407, Severity::Warning, Confidence::Likely, backward_,
                                          {"gradients of several micro-steps are added up, but `{}` is not divided by "
                                           "their number: each step is too large by that factor",
                                           {Quoted(context_, {backward_.function, loss})}});
    AddLabel(finding, SpanOf(context_, {backward_.function, loss}), LabelRole::Primary, {"a mean over one micro-batch", {}});
    AddLabel(finding, SpanOf(context_, window_.step.call.site), LabelRole::Why, {HowOften(window_.period), {}});
    finding.help = {"divide the loss by the number of micro-steps", {}};
    AddFix(loss, finding);
    sink.push_back(std::move(finding));
  }

  // By the divisor of the remainder, as it is written in the test.
  void AddFix(ir::ExprId loss, Finding& finding) const {
    const std::optional<objects::Guard>& guard = window_.period.guard;
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

  // Of a training step and the helpers that it calls.
  static constexpr size_t kMostFunctions = 32;

  const Context& context_;
  const AccumulationWindow& window_;
  Site backward_;
  ir::ModuleId module_id_;
  const ir::Module& module_;
};

void CheckAccumulationLossNotScaled(const Context& context, FindingSink& sink) {
  std::vector<source::Span> seen;
  for (const AccumulationWindow& window : context.accumulation.windows()) {
    for (const objects::GradientEvent& add : window.adds) {
      const source::Span span = SpanOf(context, add.call.site);
      if (std::ranges::count(seen, span) > 0) continue;
      seen.push_back(span);
      Micro(context, window, add.call.site).Visit(sink);
    }
  }
}

}  // namespace

extern const Rule AccumulationLossNotScaled = {
    .code = kAR407,
    .name = "accumulation-loss-not-scaled",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = kTooOftenWrong,
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
    .check = CheckAccumulationLossNotScaled,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
