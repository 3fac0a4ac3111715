#include <algorithm>

#include "analyzer/objects/definitions.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;

constexpr std::string_view kAR605 = "AR605";

// Whose parameters are clipped: `model` of `model.parameters()`, also in a list, a variable, or what the one caller passes.
class ClippedModel {
 public:
  explicit ClippedModel(const Context& context) : context_(context), definitions_(context.program, context.index) {}

  // Of `get_total_norm([p.grad for p in model.parameters()])`, where what is passed as norm is that and nothing else.
  objects::Site OfNorm(const objects::Site& norm) const {
    objects::Site taken = norm;
    const ir::Module& module = context_.program.module_of(norm.function);
    if (module[norm.expr].kind == ir::ExprKind::Name) {
      bool is_set_before = false;
      const auto assigned = definitions_.Reaching(norm, definitions_.To(norm.function, norm.expr), is_set_before);
      if (!is_set_before || assigned.size() != 1 || assigned[0].item != objects::Definition::kWhole) return {};
      taken.expr = assigned[0].value;
      if (IsReduced(norm)) return {};
    }
    const objects::KnownCall* call = context_.index.KnownCallAt(taken);
    if (call == nullptr || context_.program.text(call->entry->name) != "torch.nn.utils.get_total_norm") return {};
    return Of({norm.function, context_.index.ArgExpr(*call, "tensors")});
  }

  // Where the model is named; no expression: not seen.
  objects::Site Of(const objects::Site& parameters) const { return Of(parameters, 0); }

 private:
  objects::Site Of(const objects::Site& parameters, int depth) const {
    constexpr int kLongestWay = 6;
    if (!parameters.expr || depth > kLongestWay) return {};
    const ir::ModuleId module_id = context_.program.funcs[parameters.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Expr& expr = module[parameters.expr];
    if (expr.kind == ir::ExprKind::Name) return OfVariable(parameters, depth);
    if (expr.kind == ir::ExprKind::Comprehension) {
      const auto clauses = ir::ClausesOf(module, expr);
      const ir::Expr& whole = module[ir::OperandOf(expr)];
      const bool is_gradient = whole.kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(whole)) == "grad";
      const ir::Expr& element = is_gradient ? module[ir::ObjectOf(whole)] : whole;
      const bool is_same = clauses.size() == 1 && element.kind == ir::ExprKind::Name && module[clauses[0].target].kind == ir::ExprKind::Name &&
                           ir::NameOf(element) == ir::NameOf(module[clauses[0].target]);
      return is_same ? Of({parameters.function, clauses[0].iter}, depth + 1) : objects::Site{};
    }
    if (expr.kind != ir::ExprKind::Call) return {};
    const ir::Expr& callee = module[ir::CalleeOf(expr)];
    const bool is_it = callee.kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(callee)) == "parameters";
    if (is_it) return {parameters.function, ir::ObjectOf(callee)};
    const std::string_view called = context_.values.External(context_.facts.value(module_id, ir::CalleeOf(expr)));
    const bool lists = (called == "builtins.list" || called == "builtins.tuple") && ir::ArgCount(module, expr) == 1;
    return lists ? Of({parameters.function, ir::ArgAt(module, expr, 0).value}, depth + 1) : objects::Site{};
  }

  // `dist.all_reduce(norm, op=MAX)` somewhere in the function.
  bool IsReduced(const objects::Site& norm) const {
    const ir::Module& module = context_.program.module_of(norm.function);
    return std::ranges::any_of(context_.index.known_calls(), [&](const objects::KnownCall& call) {
      if (call.function != norm.function || !call.entry->has_operation || module[call.expr].kind != ir::ExprKind::Call) return false;
      for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
        const ir::Expr& argument = module[ir::ArgAt(module, module[call.expr], i).value];
        if (argument.kind == ir::ExprKind::Name && ir::NameOf(argument) == ir::NameOf(module[norm.expr])) return true;
      }
      return false;
    });
  }

  objects::Site OfVariable(const objects::Site& variable, int depth) const {
    bool is_set_before = false;
    const std::vector<objects::Definition> assigned =
        definitions_.Reaching(variable, definitions_.To(variable.function, variable.expr), is_set_before);
    if (is_set_before) {
      const bool is_one = assigned.size() == 1 && assigned[0].item == objects::Definition::kWhole;
      return is_one ? Of({variable.function, assigned[0].value}, depth + 1) : objects::Site{};
    }
    const auto& params = context_.program.function(variable.function).params;
    const base::NameId name = ir::NameOf(context_.program.module_of(variable.function)[variable.expr]);
    const auto param = std::ranges::find(params, name, &ir::Param::name);
    const auto callers = context_.index.CallersOf(variable.function);
    if (!assigned.empty() || param == params.end() || callers.size() != 1) return {};
    const auto position = static_cast<uint32_t>(param - params.begin());
    return Of({callers[0].function, context_.index.PassedFor(callers[0], variable.function, position)}, depth + 1);
  }

  const Context& context_;
  objects::Definitions definitions_;
};

// `model.clip_grad_norm_(1.0)`, and not the function of PyTorch.
bool ClipsByMethod(const Context& context, ir::ModuleId module_id) {
  const ir::Module& module = context.program.modules[module_id];
  return std::ranges::any_of(context.index.ExprsOf(module_id, ir::ExprKind::Call), [&](ir::ExprId call) {
    const ir::Expr& callee = module[ir::CalleeOf(module[call])];
    const bool is_named = callee.kind == ir::ExprKind::Attribute && context.program.text(ir::AttrOf(callee)) == "clip_grad_norm_";
    return is_named && context.values.External(context.facts.value(module_id, ir::CalleeOf(module[call]))).empty();
  });
}

// A test on the way asks how the model is sharded, or the file clips by the method as well.
bool KnowsHowItIsSharded(const Context& context, const objects::Site& site) {
  const ir::ModuleId module_id = context.program.funcs[site.function].module;
  const std::vector<objects::Guard> guards = context.guards.Of(site);
  const bool asks = std::ranges::any_of(guards, [&](const objects::Guard& guard) {
    return NamesAnyByOrigin(context, {guard.function, guard.test},
                            {"fsdp", "FSDP", "shard", "Shard", "strategy", "isinstance", "hasattr", "ddp", "world_size", "distributed"});
  });
  return asks || ClipsByMethod(context, module_id) || NamesAny(context, module_id, {"DistributedDataParallel", "DDP"});
}

void CheckUnshardedGradientClip(const Context& context, FindingSink& sink) {
  const ClippedModel clipped(context);
  for (const objects::KnownCall& call : context.index.known_calls()) {
    const bool is_scaling = context.program.text(call.entry->name) == "torch.nn.utils.clip_grads_with_norm_";
    if (!is_scaling && context.program.text(call.entry->name) != "torch.nn.utils.clip_grad_norm_") continue;
    const ir::ExprId total_norm = is_scaling ? context.index.ArgExpr(call, "total_norm") : ir::ExprId::None();
    if (is_scaling && !total_norm) continue;
    const objects::Site model =
        is_scaling ? clipped.OfNorm({call.function, total_norm}) : clipped.Of({call.function, context.index.ArgExpr(call, "parameters")});
    if (!model.expr) continue;
    const ir::ModuleId module_id = context.program.funcs[model.function].module;
    const ValueId value = context.facts.value(module_id, model.expr);
    const std::vector<ValueId> leaves = context.values.Leaves(value);
    const objects::Site site{call.function, call.expr};
    const auto is_sharded = [&](ValueId leaf) { return context.values.IsA(leaf, "torch.distributed.fsdp.FullyShardedDataParallel"); };
    if (std::ranges::none_of(leaves, is_sharded)) continue;
    if (AsksForAttributeBefore(context, site, value)) continue;
    // Where it is sharded only sometimes, the code may know when.
    if (!std::ranges::all_of(leaves, is_sharded) && KnowsHowItIsSharded(context, site)) continue;
    const std::string name = Quoted(context, model);
    Finding finding = FindingAt(context, kAR605, Severity::Error, Confidence::Likely, site,
                                {"each rank clips by the norm of its own shard of `{}`: the ranks scale their gradients "
                                 "differently",
                                 {name}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"sees the local shards only", {}});
    finding.help = {"call `{}.clip_grad_norm_(...)`, which reduces the norm over the ranks", {name}};
    if (const ir::ExprId norm = context.index.ArgExpr(call, "max_norm"); norm && !is_scaling && model.function == call.function) {
      const std::string text = std::string(TextOf(context, module_id, model.expr)) + ".clip_grad_norm_(" +
                               std::string(TextOf(context, module_id, norm)) + ")";
      finding.fixes.push_back(MakeFix("clip by the norm of the whole model", Applicability::Safe,
                                      {Replace(SpanOf(context, site), text)}));
    }
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule UnshardedGradientClip = {
    .code = kAR605,
    .name = "unsharded-gradient-clip",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "`torch.nn.utils.clip_grad_norm_` on the parameters of an FSDP1 model",
    .explanation = R"md(
## What it finds

`torch.nn.utils.clip_grad_norm_(model.parameters(), ...)` where `model` is wrapped in
`FullyShardedDataParallel` (FSDP1). The parameters may be in a list or a variable, or passed to a helper. The
same goes for `clip_grads_with_norm_` with what `get_total_norm` computed from their gradients.

## Why it hurts

With FSDP1, the parameters of a rank are its shards, and the function takes the norm of these alone. That is
smaller than the norm of the whole gradient by about the square root of the number of ranks, so clipping
sets in far too late. Each rank also scales by a different factor, so the direction of the step is wrong, too.
Training is unstable in a way that gets worse with more ranks.

## Wrong

```python
model = FSDP(model)
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
```

## Right

```python
model = FSDP(model)
model.clip_grad_norm_(1.0)
```

## When it is silent

* The model is sharded with FSDP2 (`fully_shard`): its parameters are DTensors, for which the function
  computes the norm of the whole gradient.
* The model is under DDP, where every rank holds all gradients.
* What the model is cannot be determined, or it is wrapped on some paths only.

## Fix

`--fix` calls the method of the wrapper, with the same bound.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckUnshardedGradientClip,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
