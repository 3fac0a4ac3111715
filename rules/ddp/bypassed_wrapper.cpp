#include <algorithm>
#include <optional>

#include "rules/ddp/wrapping.h"
#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::Site;
using variation::ValueId;

constexpr std::string_view kCode = "AR504";

class Backward {
 public:
  Backward(const Context& context, const Site& backward)
      : context_(context), backward_(backward), module_id_(context.program.funcs[backward.function].module),
        module_(context.program.modules[module_id_]) {}

  void Visit(FindingSink& sink) const {
    const ir::ExprId loss = LossOf();
    const ValueId value = context_.facts.value(module_id_, loss);
    // What came out of the wrapper reduces gradients.
    if (!loss || !value || IsSynced(value)) return;
    for (const auto& [expr, fact] : context_.facts.functions[backward_.function].calls) {
      if (module_[expr].kind != ir::ExprKind::Call || module_[expr].begin > module_[backward_.expr].begin) continue;
      const ir::ExprId model = BypassedIn(expr);
      const ValueId output = context_.facts.value(module_id_, expr);
      if (!model || !output || IsWithoutGradients(expr)) continue;
      if (!context_.values.AnyPart(value, [&](ValueId part) { return part == output; })) continue;
      return Report(expr, model, sink);
    }
  }

 private:
  // `loss` of `loss.backward()` and of `scaler.scale(loss).backward()`.
  ir::ExprId LossOf() const {
    const ir::Expr& callee = module_[ir::CalleeOf(module_[backward_.expr])];
    if (callee.kind != ir::ExprKind::Attribute || context_.program.text(ir::AttrOf(callee)) != "backward") return {};
    if (ir::ArgCount(module_, module_[backward_.expr]) > 0) return {};
    return ir::ObjectOf(callee);
  }

  bool IsSynced(ValueId loss) const {
    const base::NameId name = context_.program.names->Find("gradient_synced");
    const knowledge::MarkId mark = name ? context_.knowledge.FindMark(name) : knowledge::MarkId{};
    return mark && context_.values.AnyPart(loss, [&](ValueId part) { return context_.facts.values_store[part].mark == mark; });
  }

  // `model` of `model.module(x)`, where `model` is a wrapper.
  ir::ExprId BypassedIn(ir::ExprId call) const {
    ir::ExprId callee = ir::CalleeOf(module_[call]);
    if (module_[callee].kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(module_[callee])) == "forward") {
      callee = ir::ObjectOf(module_[callee]);
    }
    if (module_[callee].kind != ir::ExprKind::Attribute) return {};
    if (context_.program.text(ir::AttrOf(module_[callee])) != "module") return {};
    const ir::ExprId object = ir::ObjectOf(module_[callee]);
    return IsWrapped(context_, context_.facts.value(module_id_, object)) ? callee : ir::ExprId::None();
  }

  // Under `torch.no_grad()`: a teacher's output, a target.
  bool IsWithoutGradients(ir::ExprId call) const {
    const ir::Tree& tree = context_.index.tree(module_id_);
    for (ir::StmtId at = tree.StatementOf(call); at; at = tree.Parent(at)) {
      if (module_[at].kind != ir::StmtKind::With) continue;
      for (const ir::WithItem& item : ir::WithItemsOf(module_, module_[at])) {
        const std::string_view text = TextOf(context_, module_id_, item.context);
        if (text.find("no_grad") != std::string_view::npos || text.find("inference_mode") != std::string_view::npos) return true;
      }
    }
    return false;
  }

  void Report(ir::ExprId call, ir::ExprId model, FindingSink& sink) const {
    Finding finding = FindingAt(context_, kCode, Severity::Error, Confidence::Likely, Site{backward_.function, call},
                                {"the forward goes past DDP, to `{}`: the gradients of this loss stay on their rank, and the "
                                 "copies of the model drift apart",
                                 {Quoted(context_, {backward_.function, model})}});
    AddLabel(finding, SpanOf(context_, {backward_.function, model}), LabelRole::Primary, {"the model inside the wrapper", {}});
    AddLabel(finding, SpanOf(context_, backward_), LabelRole::Note, {"reduces nothing", {}});
    finding.help = {"call the wrapper itself; what is not its `forward` belongs into it", {}};
    sink.push_back(std::move(finding));
  }

  const Context& context_;
  Site backward_;
  ir::ModuleId module_id_;
  const ir::Module& module_;
};

void Check(const Context& context, FindingSink& sink) {
  for (const Site& backward : context.training.backwards()) Backward(context, backward).Visit(sink);
}

}  // namespace

extern const Rule BypassedWrapper = {
    .code = kCode,
    .name = "bypassed-wrapper",
    .severity = Severity::Error,
    .languages = "Python",
    .summary = "training forward through `.module`, so that DDP never reduces the gradients",
    .explanation = R"md(
## What it finds

A loss that is computed by calling `model.module`, the model inside a DDP wrapper, and nothing of which came
out of the wrapper itself, together with the `backward` of that loss.

## Why it hurts

DDP prepares the reduction of gradients in the wrapper's `forward`. Without it `backward` fills the gradients
of each rank from its own batch, the optimizer steps with them, and after one step every rank has another
model. Nothing fails; the checkpoint of rank 0 is a model trained on an eighth of the data.

## Wrong

```python
model = DDP(model)
loss = criterion(model.module(x), y)
loss.backward()
```

## Right

```python
model = DDP(model)
loss = criterion(model(x), y)
loss.backward()
```

## When it is silent

* The loss is also made of what the wrapper returned.
* The call stands under `no_grad`, or no gradients are computed of it in the function.
* Whether the model is wrapped is not known on every path.

## Fix

There is none: a method of the inner model may be meant, which the wrapper does not have.

## Proof

There is nothing to replay: what is missing is a collective on every rank.
)md",
    .check = Check};

}  // namespace allranks::rules
