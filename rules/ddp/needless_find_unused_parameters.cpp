#include <algorithm>

#include "rules/ddp/reentrant_checkpoints.h"
#include "rules/ddp/wrapped_models.h"
#include "rules/wrapping.h"
#include "rules/finding_parts.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR501 = "AR501";
constexpr std::string_view kFindUnused = "find_unused_parameters";

// Every part with parameters takes part in every forward, in the parts of the parts as well.
// Of the model itself, an output that leaves `forward` beside others may not be in the loss.
bool UsesAll(const objects::ModuleUses& uses, binding::ClassId class_id, std::vector<binding::ClassId>& seen) {
  const objects::PartRun least = seen.empty() ? objects::PartRun::Whole : objects::PartRun::Beside;
  if (std::ranges::find(seen, class_id) != seen.end()) return true;
  seen.push_back(class_id);
  const objects::ModuleUse use = uses.Of(class_id);
  if (!use.is_known || use.has_frozen || use.has_given || use.has_partly || use.has_unknown) return false;
  const bool all = std::ranges::all_of(use.parts, [&](const objects::PartUse& part) { return part.use == objects::Use::Always && part.run >= least; });
  if (!all) return false;
  const std::vector<binding::ClassId> parts = uses.PartClasses(class_id);
  return (!use.parts.empty() || !parts.empty()) &&
         std::ranges::all_of(parts, [&](binding::ClassId part) { return UsesAll(uses, part, seen); });
}

void CheckNeedlessFindUnusedParameters(const Context& context, FindingSink& sink) {
  const objects::ModuleUses uses(context.program, context.knowledge, context.facts, context.index, context.guards);
  const ReentrantCheckpoints checkpoints(context);
  for (const WrappedModel& model : WrappedModels(context)) {
    const ir::ExprId flag = context.index.ArgExpr(model.call, kFindUnused);
    if (!flag || !context.values.IsTrue(context.index.Arg(model.call, kFindUnused))) continue;
    // The graph of the first steps is kept then, and not searched again.
    const variation::ValueId is_static = context.index.Arg(model.call, "static_graph");
    if (is_static && !context.values.IsFalse(is_static)) continue;
    if (IsEvaluatedOnly(context, {model.call.function, model.call.expr})) continue;
    std::vector<binding::ClassId> seen;
    if (!UsesAll(uses, model.class_id, seen)) continue;
    // With these it is worse than a loss of time (AR507).
    if (checkpoints.In(model.call)) continue;
    const ir::ModuleId module = context.program.funcs[model.call.function].module;
    const ir::Class& definition = context.program.ir_class(model.class_id);
    const std::string name(context.program.text(definition.name));
    Finding finding = FindingAt(context, kAR501, Severity::Warning, Confidence::Likely, {model.call.function, flag},
                                {"`find_unused_parameters=True` is not needed: every parameter of `{}` is used "
                                 "in every forward, and DDP searches the graph after each one",
                                 {name}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"costs time in every step", {}});
    const ir::ModuleId home = context.program.classes[model.class_id].module;
    AddLabel(finding, {context.program.modules[home].file, definition.name_begin, definition.name_end}, LabelRole::Why,
             {"all its parameters are used", {}});
    const traces::World world = OneNode();
    witness::UnusedParameter scenario;
    scenario.unused.resize(world.size());
    scenario.find_unused = true;
    finding.witness = ScenarioWitness(world, witness::Effect::Semantic, std::move(scenario));
    finding.help = {"leave `find_unused_parameters` out", {}};
    finding.fixes.push_back(MakeFix("leave `find_unused_parameters` out", Applicability::Safe,
                                    {RemoveArgument(context, module, model.call.expr, flag)}));
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule NeedlessFindUnusedParameters = {
    .code = kAR501,
    .name = "needless-find-unused-parameters",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "`find_unused_parameters=True` for a model that uses all parameters in every forward",
    .explanation = R"md(
## What it finds

A DDP wrapper with `find_unused_parameters=True` around a model of the project whose `forward` uses every
part that has parameters, under no condition. The `forward` is followed through the model's methods and the
modules it consists of. The model may be selected by name (`models.__dict__[args.arch](...)`), if whatever
takes these arguments creates objects of one class.

## Why it hurts

With the flag, DDP walks the whole autograd graph after each forward to find out which parameters will
get no gradient, and cannot start reducing as early. On models with many small layers this costs
several percent of each step, for nothing. PyTorch itself warns once per run: `find_unused_parameters=True
was specified in DDP constructor, but did not find any unused parameters in the forward pass`. The flag
also hides a part that is forgotten later on.

## Wrong

```python
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(self.body(x))

model = DDP(Net(), find_unused_parameters=True)
```

## Right

```python
model = DDP(Net())
```

## When it is silent

* A part is used under a condition that may come out either way, or is not used at all, or the object is
  passed to code that is not seen.
* A part runs only where gradients are switched off (`torch.no_grad()`): its parameters get none.
* Only a method of a part is called (`self.encoder.encode(x)`), or one part of a list (`self.heads[task](x)`,
  `self.blocks[:depth]`), or a part in a loop that may make no round or end early.
* The output of a part is detached or not read, or the model's `forward` returns it together with others, so
  that it may not be in the loss.
* Only a part of what a library module computes is read (`self.bert(x).last_hidden_state`).
* The class derives from one that is not seen, mentions `requires_grad`, or calls a part that its
  constructor was given.
* A constructor creates a module about which nothing is known, even if it goes into a list or an
  `nn.Sequential`.
* A part is computed in reentrant checkpoints, with which DDP raises an error: that is AR507.
* The flag is a variable, or `static_graph` is set: then DDP does not search the graph in each step.
* The program puts the model into evaluation mode and computes no gradients.

## Fix

`--fix` removes the argument.

## Proof

`allranks verify` reduces the buckets of gradients with all of them present, and says that none is missing.
)md",
    .check = CheckNeedlessFindUnusedParameters,
    .scenario = Scenario::UnusedParameter,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
