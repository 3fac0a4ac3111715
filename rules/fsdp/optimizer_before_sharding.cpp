#include <algorithm>
#include <optional>

#include "analyzer/objects/definitions.h"
#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;

constexpr std::string_view kAR604 = "AR604";

constexpr std::string_view kSharding[] = {"torch.distributed.fsdp.FullyShardedDataParallel.__init__",
                                          "torch.distributed.fsdp.fully_shard"};

class Sharding {
 public:
  Sharding(const Context& context, const objects::KnownCall& call)
      : context_(context),
        call_(call),
        module_id_(context.program.funcs[call.function].module),
        module_(context.program.modules[module_id_]) {}

  void Visit(FindingSink& sink) const {
    const ir::ExprId model = context_.index.ArgExpr(call_, "module");
    // With original parameters FSDP keeps the objects that the optimizer holds.
    const ValueId original = context_.index.Arg(call_, "use_orig_params");
    if (!model || (original && !context_.values.IsFalse(original))) return;
    const std::string name(TextOf(context_, module_id_, model));
    if (module_[model].kind != ir::ExprKind::Name && module_[model].kind != ir::ExprKind::Attribute) return;
    const std::optional<ir::ExprId> optimizer = OptimizerBefore(name);
    if (!optimizer) return;
    const objects::Site site{call_.function, *optimizer};
    Finding finding = FindingAt(context_, kAR604, Severity::Error, Confidence::Likely, site,
                                {"this optimizer holds the parameters of `{}` from before sharding, which FSDP "
                                 "replaces: its steps do not update the trained model",
                                 {name}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"created from the old parameters", {}});
    AddLabel(finding, SpanOf(context_, {call_.function, call_.expr}), LabelRole::Why, {"sharded only here", {}});
    finding.help = {"shard the model first, then create the optimizer from the result", {}};
    sink.push_back(std::move(finding));
  }

 private:
  bool MakesOptimizer(ir::ExprId call) const {
    const ValueId value = context_.facts.value(module_id_, call);
    const std::vector<ValueId> leaves = context_.values.Leaves(value);
    return std::ranges::any_of(leaves, [&](ValueId leaf) { return context_.values.IsA(leaf, "torch.optim.Optimizer"); });
  }

  // The statement runs before the sharding, on every way there.
  bool IsBefore(ir::StmtId stmt) const {
    const ir::Tree& tree = context_.index.tree(module_id_);
    const ir::StmtId here = tree.StatementOf(call_.expr);
    for (ir::StmtId at = here; at; at = tree.Parent(at)) {
      if (tree.BlockOf(at) == tree.BlockOf(stmt)) return module_[stmt].end <= module_[at].begin;
    }
    return false;
  }

  std::optional<ir::ExprId> OptimizerBefore(const std::string& model) const {
    std::optional<ir::ExprId> before;
    for (const auto& [expr, fact] : context_.facts.functions[call_.function].calls) {
      const ir::StmtId stmt = context_.index.tree(module_id_).StatementOf(expr);
      if (!stmt || module_[expr].kind != ir::ExprKind::Call || !MakesOptimizer(expr)) continue;
      // Made anew afterwards.
      if (module_[expr].begin > module_[call_.expr].end) return std::nullopt;
      if (IsMadeOf(expr, fact, model) && IsBefore(stmt)) before = expr;
    }
    return before;
  }

  // `SGD(model.parameters())`, `SGD(params)` of `params = list(model.parameters())`, and `make(model)` of a helper that does so.
  bool IsMadeOf(ir::ExprId call, const variation::CallFact& fact, const std::string& model) const {
    const auto names = [&](ir::ExprId expr) { return TextOf(context_, module_id_, expr).find(model + ".") != std::string_view::npos; };
    if (names(call)) return true;
    for (uint32_t i = 0; i < ir::ArgCount(module_, module_[call]); ++i) {
      const ir::ExprId given = ir::ArgAt(module_, module_[call], i).value;
      if (fact.kind == variation::CallKind::Function) {
        if (TextOf(context_, module_id_, given) == model && HoldsParametersOf(call, given)) return true;
        continue;
      }
      if (module_[given].kind != ir::ExprKind::Name) continue;
      const std::vector<objects::Definition> assigned = objects::Definitions(context_.program, context_.index).To(call_.function, given);
      const bool is_one = assigned.size() == 1 && assigned[0].value && assigned[0].item == objects::Definition::kWhole;
      if (is_one && IsBefore(assigned[0].stmt) && names(assigned[0].value)) return true;
    }
    return false;
  }

  // What an optimizer steps comes from this model.
  bool HoldsParametersOf(ir::ExprId call, ir::ExprId model) const {
    const ValueId whole = context_.facts.value(module_id_, model);
    const std::vector<ValueId> leaves = context_.values.Leaves(context_.facts.value(module_id_, call));
    return whole && std::ranges::any_of(leaves, [&](ValueId leaf) {
      const ValueId params = context_.values.MadeWith(leaf, "params");
      return params && context_.values.AnyPart(params, [&](ValueId part) { return part == whole; });
    });
  }

  const Context& context_;
  const objects::KnownCall& call_;
  ir::ModuleId module_id_;
  const ir::Module& module_;
};

void CheckOptimizerBeforeSharding(const Context& context, FindingSink& sink) {
  for (const objects::KnownCall& call : context.index.known_calls()) {
    if (std::ranges::count(kSharding, context.program.text(call.entry->name)) > 0) Sharding(context, call).Visit(sink);
  }
}

}  // namespace

extern const Rule OptimizerBeforeSharding = {
    .code = kAR604,
    .name = "optimizer-before-sharding",
    .severity = Severity::Error,
    .languages = "Python",
    .summary = "optimizer created from parameters that FSDP replaces afterwards",
    .explanation = R"md(
## What it finds

An optimizer that is created from a model's parameters, or by a method of the model, before the same function
wraps that model in FSDP or calls `fully_shard` on it.

## Why it hurts

Sharding replaces the parameters with new ones. The optimizer keeps the old ones: it steps on tensors without
gradients, or updates copies that nobody uses. The loss does not change, without any error, on all ranks
alike. The old parameters also keep their memory.

## Wrong

```python
optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
model = FSDP(model)
```

## Right

```python
model = FSDP(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
```

## When it is silent

* `use_orig_params` is set: the parameter objects stay the same.
* A new optimizer is created after the sharding.
* The two are in different branches.

## Fix

There is none: the code between the two lines may need either of them.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckOptimizerBeforeSharding};

}  // namespace allranks::rules
