#include <algorithm>
#include <optional>

#include "analyzer/ir/walk.h"
#include "rules/ddp/wrapped_models.h"
#include "rules/finding_parts.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"
#include "rules/wrapping.h"

namespace allranks::rules {
namespace {

using objects::PartUse;
using objects::Use;

constexpr std::string_view kAR502 = "AR502";
constexpr std::string_view kFlag = "find_unused_parameters";
// What draws random numbers that a step may be decided by.
constexpr std::string_view kDraws[] = {"torch.rand", "torch.randint", "torch.randn", "torch.bernoulli", "numpy.random.rand",
                                       "numpy.random.random", "numpy.random.uniform"};

class Model {
 public:
  Model(const Context& context, const objects::ModuleUses& uses, const WrappedModel& model)
      : context_(context), uses_(uses), model_(model) {}

  void Visit(FindingSink& sink) {
    for (const std::string_view param : {kFlag, std::string_view("static_graph")}) {
      const variation::ValueId value = context_.index.Arg(model_.call, param);
      if (value && !context_.values.IsFalse(value)) return;
    }
    if (HasStaticGraph(context_, model_.call)) return;
    std::vector<binding::ClassId> classes = {model_.class_id};
    for (size_t i = 0; i < classes.size(); ++i) {
      const objects::ModuleUse use = uses_.Of(classes[i]);
      if (use.is_known && !use.has_frozen) {
        for (const PartUse& part : use.parts) VisitPart(classes[i], part, sink);
      }
      for (const binding::ClassId part : uses_.PartClasses(classes[i])) {
        if (std::ranges::find(classes, part) == classes.end()) classes.push_back(part);
      }
    }
  }

 private:
  void VisitPart(binding::ClassId class_id, const PartUse& part, FindingSink& sink) {
    const bool is_chosen = part.use == Use::Always && part.choice && IsByChance(*part.choice);
    if ((part.use == Use::Always && !is_chosen) || IsReadElsewhere(part)) return;
    if (part.use == Use::Sometimes && !(part.condition && IsByChance(*part.condition))) return;
    // Parts of computed names may be read by names that are written down.
    if (!part.field) return;
    const std::string field(context_.program.text(part.field));
    const std::string owner(context_.program.text(context_.program.ir_class(class_id).name));
    const bool never = part.use == Use::Never;
    Finding finding = FindingAt(
        context_, kAR502, Severity::Error, Confidence::Likely, {model_.call.function, model_.call.expr},
        {never ? "`{}` of `{}` has parameters that no forward uses: DDP waits for their gradients and fails in the second "
                 "step"
         : is_chosen ? "items of `{}` of `{}` are left out in some forwards: DDP waits for their gradients on the ranks that "
                       "skipped them and fails in the next step"
               : "`{}` of `{}` is used in some forwards only: DDP waits for its gradients on the ranks that "
                 "skipped it and fails in the next step",
         {field, owner}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"expects a gradient for every parameter", {}});
    AddLabel(finding, part.made, LabelRole::Why, {never ? "created here and never used" : "its parameters", {}});
    if (const std::optional<objects::Guard>& decides = is_chosen ? part.choice : part.condition) {
      AddLabel(finding, SpanOf(context_, {decides->function, decides->test}), LabelRole::Condition,
               {is_chosen ? "decides whether an item is used" : "decides whether it is used", {}});
    }
    finding.witness = WitnessOf(never);
    finding.help = {"remove it, use it in every forward, or pass `find_unused_parameters=True`", {}};
    const ir::ModuleId module = context_.program.funcs[model_.call.function].module;
    const ir::ExprId flag = context_.index.ArgExpr(model_.call, kFlag);
    const findings::Edit edit =
        flag ? Replace(context_.program.modules[module].span(flag), "True")
             : AddArgument(context_, module, model_.call.expr, std::string(kFlag) + "=True");
    finding.fixes.push_back(MakeFix("let DDP look for unused parameters", Applicability::Safe, {edit}));
    sink.push_back(std::move(finding));
  }

  // The second of two buckets: left out by all ranks, or by one for which chance said so.
  static witness::Witness WitnessOf(bool never) {
    const traces::World world = OneNode();
    witness::UnusedParameter scenario;
    scenario.unused.resize(world.size());
    for (uint32_t rank = 0; rank < (never ? world.size() : 1); ++rank) scenario.unused[rank].push_back(1);
    return ScenarioWitness(world, never ? witness::Effect::Error : witness::Effect::Deadlock, std::move(scenario));
  }

  // Somebody outside of `forward` may use the part: a hook, another class, the training loop.
  bool IsReadElsewhere(const PartUse& part) const {
    if (part.use != Use::Never) return false;
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const ir::ModuleId module_id{m};
      const ir::Module& module = context_.program.modules[module_id];
      for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Attribute)) {
        const ir::Expr& expr = module[id];
        if (ir::AttrOf(expr) != part.field) continue;
        const bool is_making = module.file == part.made.file && expr.begin == part.made.begin;
        if (!is_making) return true;
      }
    }
    return false;
  }

  // The choice differs from rank to rank and from step to step: it follows from chance or from the data.
  bool IsByChance(const objects::Guard& guard) const {
    const variation::ValueId value = context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
    if (!value) return false;
    if (NeverLeavesOut(guard)) return false;
    return IsDrawn(guard) || context_.values.AnyPart(value, [&](variation::ValueId part) {
      return !(context_.facts.values_store.axes(part) & knowledge::kSurroundings).empty();
    });
  }

  // `random.random() < self.drop`, where that is 0 wherever it is set.
  bool NeverLeavesOut(const objects::Guard& guard) const {
    const ir::ModuleId module_id = context_.program.funcs[guard.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const auto is_zero = [&](variation::ValueId leaf) {
      const variation::Value& value = context_.values[leaf];
      const bool is_zero_point = value.kind == variation::ValueKind::Float && context_.program.text(value.name()).find_first_of("123456789") == std::string_view::npos;
      return is_zero_point || context_.values.Int(leaf) == 0;
    };
    return std::ranges::any_of(context_.index.ExprsBeginningIn(module_id, module[guard.test].begin, module[guard.test].end), [&](ir::ExprId id) {
      if (module[id].kind != ir::ExprKind::Compare) return false;
      const std::vector<variation::ValueId> sides = SidesOf(module_id, id);
      return std::ranges::any_of(sides, [&](variation::ValueId side) { return side && std::ranges::all_of(context_.values.Leaves(side), is_zero); });
    });
  }

  std::vector<variation::ValueId> SidesOf(ir::ModuleId module_id, ir::ExprId compare) const {
    std::vector<variation::ValueId> sides;
    ir::ForEachPart(context_.program.modules[module_id], compare, [&](ir::ExprId part) { sides.push_back(context_.facts.value(module_id, part)); });
    return sides;
  }

  // A random number is drawn in the test. Seeded alike, all ranks leave the same part out, and all of them fail.
  bool IsDrawn(const objects::Guard& guard) const {
    const ir::ModuleId module_id = context_.program.funcs[guard.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    return std::ranges::any_of(context_.index.ExprsOf(module_id, ir::ExprKind::Call), [&](ir::ExprId id) {
      if (module[id].begin < module[guard.test].begin || module[id].end > module[guard.test].end) return false;
      const variation::ValueId callee = context_.facts.value(module_id, ir::CalleeOf(module[id]));
      return std::ranges::count(kDraws, context_.values.External(callee)) > 0;
    });
  }

  const Context& context_;
  const objects::ModuleUses& uses_;
  const WrappedModel& model_;
};

void CheckMissingFindUnusedParameters(const Context& context, FindingSink& sink) {
  const objects::ModuleUses uses(context.program, context.knowledge, context.facts, context.index, context.guards);
  for (const WrappedModel& model : WrappedModels(context)) Model(context, uses, model).Visit(sink);
}

}  // namespace

extern const Rule MissingFindUnusedParameters = {
    .code = kAR502,
    .name = "missing-find-unused-parameters",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "parameters that some forward leaves out, under DDP without `find_unused_parameters`",
    .explanation = R"md(
## What it finds

A model of the project in a DDP wrapper, with neither `find_unused_parameters` nor `static_graph` set, that
has one of these:

* a part with parameters that no `forward` uses, or that is used only at random (layer drop, stochastic
  depth);
* a list of modules of which a loop leaves some out at random.

## Why it hurts

DDP reduces gradients in buckets and waits until each parameter has reported its gradient. A parameter that
takes no part never does. The first step passes. The second forward raises `Expected to have finished
reduction in the prior iteration before starting a new one`. If each rank decides at random for itself, some
ranks reduce a bucket that others never fill, and wait for the others until the timeout.

## Wrong

```python
def forward(self, x):
    for layer in self.layers:
        x = layer(x)
    if random.random() < 0.5:
        x = self.adapter(x)
    return x

model = DDP(model)
```

## Right

```python
model = DDP(model, find_unused_parameters=True)
```

## When it is silent

* The part is read anywhere else in the project, or the class passes itself to code that is not seen.
* A rank that does not reach it raises an error: `assert`, `if y is None: raise`.
* The condition depends on a setting or an argument: then it is the same in every step. The same goes for a
  random number that is compared with 0 (`random.random() < self.drop`, where `drop` is 0 wherever it is set).
* The class mentions `requires_grad`: the part may be frozen before it is wrapped.
* The flag is a variable, or `static_graph` is set.

## Fix

`--fix` passes `find_unused_parameters=True`. This costs some time in each step. Removing a part that
nothing uses costs nothing.

## Proof

`allranks verify` reduces the buckets of gradients with one left out on some ranks, and shows who waits.
)md",
    .check = CheckMissingFindUnusedParameters,
    .scenario = Scenario::UnusedParameter,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
