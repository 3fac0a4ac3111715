#include <algorithm>
#include <optional>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kAR409 = "AR409";

class Ratios {
 public:
  Ratios(const Context& context, FindingSink& sink) : context_(context), sink_(sink) {}

  void Run() {
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) VisitDivisions(ir::ModuleId{m});
    for (const KnownCall& call : context_.index.known_calls()) {
      if (!call.entry->has_operation || !call.entry->operation.tensor_param) continue;
      const std::string_view kind = context_.program.text(call.entry->operation.kind);
      if (kind == "all_reduce") VisitCumulative(call);
    }
  }

 private:
  // `reduced / count` where the count is still that of the rank, and the other way round.
  void VisitDivisions(ir::ModuleId module_id) {
    const ir::Module& module = context_.program.modules[module_id];
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Binary)) {
      const ir::Expr& expr = module[id];
      if (static_cast<ir::BinaryOp>(expr.op) != ir::BinaryOp::Div) continue;
      const ValueId left = context_.facts.value(module_id, ir::LeftOf(expr));
      const ValueId right = context_.facts.value(module_id, ir::RightOf(expr));
      const bool numerator_only = left && right && IsReduced(left) && IsOfItsShare(right);
      const bool denominator_only = left && right && IsReduced(right) && IsOfItsShare(left);
      if (!numerator_only && !denominator_only) continue;
      const FuncId function = FunctionAround(context_, module_id, id);
      if (!function || IsLossOfGradients(function, id)) continue;
      Report({function, id}, {function, numerator_only ? ir::RightOf(expr) : ir::LeftOf(expr)},
             {function, numerator_only ? ir::LeftOf(expr) : ir::RightOf(expr)});
    }
  }

  bool IsReduced(ValueId value) const {
    const variation::Value& node = context_.facts.values_store[value];
    return (node.flags & variation::kReduced) != 0 && node.axes.empty();
  }

  // It differs with the batches of a rank, and nobody has made it equal.
  bool IsOfItsShare(ValueId value) const {
    const variation::Value& node = context_.facts.values_store[value];
    return node.axes.has(knowledge::Axis::Data) && (node.flags & variation::kReduced) == 0;
  }

  // A rank's sum over a count of all ranks is how a loss is made right for gradients that are added up.
  bool IsLossOfGradients(FuncId function, ir::ExprId division) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ValueId value = context_.facts.value(module_id, division);
    return std::ranges::any_of(context_.training.backwards(), [&](const Site& backward) {
      const ir::Module& module = context_.program.module_of(backward.function);
      const ir::Expr& callee = module[ir::CalleeOf(module[backward.expr])];
      if (callee.kind != ir::ExprKind::Attribute) return false;
      const ValueId loss = context_.facts.value(context_.program.funcs[backward.function].module, ir::ObjectOf(callee));
      return loss && context_.values.AnyPart(loss, [&](ValueId part) { return part == value; });
    });
  }

  void Report(const Site& division, const Site& local, const Site& reduced) {
    Finding finding = FindingAt(context_, kAR409, Severity::Warning, Confidence::Likely, division,
                                {"`{}` is summed over all ranks, but `{}` is that of one rank: their quotient is not a mean",
                                 {Quoted(context_, reduced), Quoted(context_, local)}});
    AddLabel(finding, SpanOf(context_, reduced), LabelRole::Primary, {"of all ranks", {}});
    AddLabel(finding, SpanOf(context_, local), LabelRole::Why, {"of this rank", {}});
    finding.help = {"reduce numerator and denominator, then divide", {}};
    sink_.push_back(std::move(finding));
  }

  // `self.total += n; all_reduce(self.total)` and the sum put back: what was summed up is summed up again next time.
  void VisitCumulative(const KnownCall& call) {
    const ir::ExprId tensor = context_.index.ArgExpr(call, context_.program.text(call.entry->operation.tensor_param));
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    if (!tensor) return;
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (stmt.kind != ir::StmtKind::AugAssign || static_cast<ir::BinaryOp>(stmt.op) != ir::BinaryOp::Add) continue;
      if (context_.index.FunctionOf(module_id, ir::StmtId{i}) != call.function || stmt.begin > module[call.expr].begin) continue;
      const ir::ExprId total = ir::ValueOf(stmt);
      if (module[total].kind != ir::ExprKind::Attribute || !TextOf(context_, module_id, total).starts_with("self.")) continue;
      if (!IsKept(call, total, tensor)) continue;
      Finding finding = FindingAt(context_, kAR409, Severity::Warning, Confidence::Likely, Site{call.function, call.expr},
                                  {"`{}` keeps the sum over all ranks and adds to it: the next reduction counts that sum once per rank",
                                   {Quoted(context_, {call.function, total})}});
      AddLabel(finding, finding.span, LabelRole::Primary, {"sums values that are already summed", {}});
      AddLabel(finding, module.span(ir::StmtId{i}), LabelRole::Why, {"adds to what was kept", {}});
      finding.help = {"reduce only the new part, or reduce a copy where the result is read", {}};
      sink_.push_back(std::move(finding));
      return;
    }
  }

  // The reduced tensor is the total itself, or made of it and put back into it afterwards.
  bool IsKept(const KnownCall& call, ir::ExprId total, ir::ExprId tensor) const {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const std::string_view name = TextOf(context_, module_id, total);
    const std::string_view reduced = TextOf(context_, module_id, tensor);
    if (reduced == name) return !IsReset(call, name);
    if (module[tensor].kind != ir::ExprKind::Name) return false;
    bool is_made = false;
    bool is_put_back = false;
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (stmt.kind != ir::StmtKind::Assign || context_.index.FunctionOf(module_id, ir::StmtId{i}) != call.function) continue;
      const std::string_view target = TextOf(context_, module_id, ir::TargetsOf(module, stmt)[0]);
      const std::string_view value = TextOf(context_, module_id, ir::AssignedOf(stmt));
      if (target == reduced && value.find(name) != std::string_view::npos) is_made = true;
      if (target == name && stmt.begin > module[call.expr].end && value.starts_with(reduced)) is_put_back = true;
    }
    return is_made && is_put_back;
  }

  // Set anew in the same function: the total does not outlive it.
  bool IsReset(const KnownCall& call, std::string_view name) const {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (stmt.kind != ir::StmtKind::Assign || context_.index.FunctionOf(module_id, ir::StmtId{i}) != call.function) continue;
      if (TextOf(context_, module_id, ir::TargetsOf(module, stmt)[0]) == name) return true;
    }
    return false;
  }

  const Context& context_;
  FindingSink& sink_;
};

void CheckPartlyReducedMetric(const Context& context, FindingSink& sink) { Ratios(context, sink).Run(); }

}  // namespace

extern const Rule PartlyReducedMetric = {
    .code = kAR409,
    .name = "partly-reduced-metric",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = kTooFewFindings,
    .languages = "Python",
    .summary = "quotient of a sum over all ranks and one of this rank, or a running total that is reduced again and again",
    .explanation = R"md(
## What it finds

* A division of which one side was reduced over the ranks and the other is what this rank counted.
* A running total of an object that is reduced in place, or put back after it was reduced, by the method that
  adds to it.

## Why it hurts

The sum over 8 ranks by the count of one is eight times the mean; the other way round it is an eighth. A
running total that already holds the sums of all ranks is summed up again at the next batch: it grows by a
factor of the number of ranks each time, while the quotient of two such totals looks plausible and forgets old
batches.

## Wrong

```python
dist.all_reduce(correct)
accuracy = correct / seen
```

## Right

```python
dist.all_reduce(correct)
dist.all_reduce(seen)
accuracy = correct / seen
```

## When it is silent

* The other side is the same on all ranks: a length, a constant, the world size.
* The quotient is a loss of which gradients are computed.
* The total is set anew in the same function.

## Fix

There is none: what has to be reduced may be a number, which has to become a tensor first.

## Proof

There is nothing to replay: the ranks agree on what they call.
)md",
    .check = CheckPartlyReducedMetric};

}  // namespace allranks::rules
