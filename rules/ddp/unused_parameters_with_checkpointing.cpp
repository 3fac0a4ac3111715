#include <algorithm>
#include <optional>

#include "analyzer/objects/module_use.h"
#include "rules/ddp/reentrant_checkpoints.h"
#include "rules/ddp/wrapped_models.h"
#include "rules/wrapping.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kAR507 = "AR507";

class Conflicts {
 public:
  Conflicts(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), checkpoints_(context),
        uses_(context.program, context.knowledge, context.facts, context.index, context.guards) {}

  void Run() {
    for (const KnownCall& wrap : Wrappings(context_)) VisitWrapping(wrap);
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) VisitModule(ir::ModuleId{m});
    VisitStaticGraphs();
  }

 private:
  void VisitWrapping(const KnownCall& wrap) {
    const ValueId flag = context_.index.Arg(wrap, "find_unused_parameters");
    if (!flag || !context_.values.IsTrue(flag) || HasStaticGraph(context_, wrap)) return;
    if (IsEvaluatedOnly(context_, {wrap.function, wrap.expr})) return;
    const std::optional<Site> checkpoint = checkpoints_.In(wrap);
    if (!checkpoint) return;
    Finding finding = FindingAt(context_, kAR507, Severity::Error, Confidence::Likely, Site{wrap.function, context_.index.ArgExpr(wrap, "find_unused_parameters")},
                                {"`find_unused_parameters` is on while reentrant checkpoints recompute layers: "
                                 "their parameters are marked ready twice, and DDP raises",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"searches the graph after each forward", {}});
    AddLabel(finding, SpanOf(context_, *checkpoint), LabelRole::Why, {"has no graph until backward", {}});
    finding.help = {"pass `use_reentrant=False` to the checkpoints, or `static_graph=True` to DDP", {}};
    sink_.push_back(std::move(finding));
  }

  // Arguments of the Trainer, or of a class of the project that derives from them.
  void VisitModule(ir::ModuleId module_id) {
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Call)) {
      if (!KeywordOf(context_, module_id, id, "gradient_checkpointing")) continue;
      const FuncId function = FunctionAround(context_, module_id, id);
      if (function && context_.values.IsA(context_.facts.value(module_id, id), "transformers.TrainingArguments")) {
        VisitArguments({function, id});
      }
    }
  }

  // The Trainer turns the search on for models that are not its own (adapters), unless it is told.
  void VisitArguments(const Site& call) {
    const ir::ModuleId module = context_.program.funcs[call.function].module;
    const ir::ExprId checkpointing = KeywordOf(context_, module, call.expr, "gradient_checkpointing");
    if (!checkpointing || KeywordOf(context_, module, call.expr, "ddp_find_unused_parameters")) return;
    if (context_.values.IsFalse(context_.facts.value(module, checkpointing)) || IsReentrancyTold(module, call.expr)) return;
    const std::optional<Site> adapters = AdaptersIn(module);
    // A notebook runs in one process.
    const bool is_notebook = context_.program.infos[module].path.ends_with(".ipynb");
    if (!adapters || is_notebook || IsSetLater(module)) return;
    Finding finding = FindingAt(context_, kAR507, Severity::Error, Confidence::Likely, Site{call.function, call.expr},
                                {"`gradient_checkpointing` with `ddp_find_unused_parameters` left at its "
                                 "default: for a model that is not one "
                                 "of Transformers' own, such as one with adapters, the Trainer turns the search on, and DDP raises",
                                 {}});
    AddLabel(finding, SpanOf(context_, {call.function, checkpointing}), LabelRole::Primary, {"reentrant by default", {}});
    AddLabel(finding, SpanOf(context_, *adapters), LabelRole::Why, {"the model's own parameters are frozen: it has adapters", {}});
    finding.help = {"pass `ddp_find_unused_parameters=False`", {}};
    sink_.push_back(std::move(finding));
  }

  // A model is wrapped in adapters here, or prepared for them: its inputs get gradients because its weights have none.
  std::optional<Site> AdaptersIn(ir::ModuleId module_id) const {
    const ir::Module& module = context_.program.modules[module_id];
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Call)) {
      const std::string_view callee = TextOf(context_, module_id, ir::CalleeOf(module[id]));
      const bool is_it = callee.ends_with("get_peft_model") || callee.ends_with("PeftModel.from_pretrained") ||
                         callee.ends_with("enable_input_require_grads");
      if (const FuncId function = is_it ? FunctionAround(context_, module_id, id) : FuncId::None()) return Site{function, id};
    }
    return std::nullopt;
  }

  // `args.ddp_find_unused_parameters = False`.
  bool IsSetLater(ir::ModuleId module) const {
    return std::ranges::any_of(context_.program.modules[module].exprs, [&](const ir::Expr& expr) {
      return expr.kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(expr)) == "ddp_find_unused_parameters";
    });
  }

  bool IsReentrancyTold(ir::ModuleId module, ir::ExprId call) const {
    return KeywordOf(context_, module, call, "gradient_checkpointing_kwargs").has_value();
  }

  // `static_graph=True` for a model of which some parts take part only by chance.
  void VisitStaticGraphs() {
    for (const WrappedModel& model : WrappedModels(context_)) {
      if (!HasStaticGraph(context_, model.call)) continue;
      const objects::ModuleUse use = uses_.Of(model.class_id);
      const auto part = std::ranges::find_if(use.parts, [&](const objects::PartUse& each) { return each.use == objects::Use::Sometimes && Changes(each); });
      if (part == use.parts.end()) continue;
      Finding finding = FindingAt(context_, kAR507, Severity::Error, Confidence::Likely, Site{model.call.function, model.call.expr},
                                  {"a static graph promises that each step uses the same parameters: `{}` is used only sometimes",
                                   {std::string(context_.program.text(part->field))}});
      AddLabel(finding, finding.span, LabelRole::Primary, {"the promise", {}});
      const objects::Guard& guard = *part->condition;
      AddLabel(finding, SpanOf(context_, {guard.function, guard.test}), LabelRole::Why, {"differs from step to step", {}});
      finding.help = {"use `find_unused_parameters=True` instead", {}};
      sink_.push_back(std::move(finding));
    }
  }

  // Decided by chance, by the data, or by an argument of the forward.
  bool Changes(const objects::PartUse& part) const {
    if (!part.condition) return false;
    const ValueId value = context_.facts.value(context_.program.funcs[part.condition->function].module, part.condition->test);
    return value && !context_.facts.values_store.axes(value).empty();
  }

  const Context& context_;
  FindingSink& sink_;
  ReentrantCheckpoints checkpoints_;
  objects::ModuleUses uses_;
};

void CheckUnusedParametersWithCheckpointing(const Context& context, FindingSink& sink) { Conflicts(context, sink).Run(); }

}  // namespace

extern const Rule UnusedParametersWithCheckpointing = {
    .code = kAR507,
    .name = "unused-parameters-with-checkpointing",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "`find_unused_parameters` with reentrant checkpoints, or `static_graph` for a graph that changes",
    .explanation = R"md(
## What it finds

* DDP with `find_unused_parameters=True` in a program that recomputes layers with `torch.utils.checkpoint`,
  without `use_reentrant=False`.
* Arguments of Transformers' Trainer with `gradient_checkpointing`, for a model with adapters, that leave
  `ddp_find_unused_parameters` at its default.
* `static_graph=True` for a model with a part that its forward uses only at random or depending on the data.

## Why it hurts

A reentrant checkpoint has no graph until backward. The search for unused parameters treats all parameters in
it as unused and marks them ready. Backward then marks them ready a second time: `Expected to mark a variable
ready only once`. With `static_graph`, DDP assumes that all steps are like the first: a step that uses other
parameters reduces the wrong buckets or waits forever.

## Wrong

```python
y = checkpoint(self.block, x)
model = DDP(net, find_unused_parameters=True)
```

## Right

```python
y = checkpoint(self.block, x, use_reentrant=False)
model = DDP(net, find_unused_parameters=True)
```

## When it is silent

* `use_reentrant=False`, or `static_graph=True` together with the search.
* The flag is not written as a literal `True`.
* The checkpoints depend on an option, which may be off.
* The model is known, and neither its class nor one of its parts reaches a checkpoint.
* The program puts the model into evaluation mode and computes no gradients.
* The Trainer's arguments are in a notebook, which runs in one process.

## Fix

There is none: which of the two to give up is a question of memory and speed.

## Proof

There is nothing to replay: every rank raises the same error.
)md",
    .check = CheckUnusedParametersWithCheckpointing};

}  // namespace allranks::rules
