#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR805 = "AR805";

// A loss in the function that computes its gradients.
class Loss {
 public:
  Loss(const Context& context, const objects::Site& backward)
      : context_(context),
        backward_(backward),
        module_id_(context.program.funcs[backward.function].module),
        module_(context.program.modules[module_id_]) {}

  void Visit(FindingSink& sink) {
    const std::vector<ir::StmtId> loops = context_.index.LoopsAround(backward_);
    name_ = NameOfLoss();
    if (loops.empty() || !name_ || IsMadeAnew()) return;
    const ir::StmtId outermost = loops.back();
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      const ir::StmtId stmt{i};
      if (!context_.index.tree(module_id_).Holds(outermost, stmt)) continue;
      const ir::ExprId kept = KeptBy(stmt);
      if (kept && IsKeptOverSteps(kept, loops)) Report(stmt, kept, sink);
    }
  }

 private:
  // `loss.backward()`, `scaler.scale(loss).backward()`, `accelerator.backward(loss)`.
  base::NameId NameOfLoss() const {
    const ir::Expr& call = module_[backward_.expr];
    ir::ExprId at = ir::ObjectOf(module_[ir::CalleeOf(call)]);
    if (module_[at].kind == ir::ExprKind::Call && ir::ArgCount(module_, module_[at]) == 1) {
      at = ir::ArgAt(module_, module_[at], 0).value;
    } else if (ir::ArgCount(module_, call) > 0 && ir::ArgAt(module_, call, 0).kind == ir::ArgKind::Positional) {
      at = ir::ArgAt(module_, call, 0).value;
    }
    return module_[at].kind == ir::ExprKind::Name ? ir::NameOf(module_[at]) : base::NameId::None();
  }

  // The name comes to mean a number or a tensor without a graph: `loss = loss.item()`, `loss = reduce(loss)`.
  bool IsMadeAnew() const {
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      const ir::StmtId id{i};
      const ir::Stmt& stmt = module_[id];
      const bool is_behind = context_.index.FunctionOf(module_id_, id) == backward_.function && stmt.begin >= module_[backward_.expr].end;
      if (is_behind && IsBegunAt(name_, stmt)) return true;
    }
    return false;
  }

  // `total = 0`
  bool IsBegunAt(base::NameId variable, const ir::Stmt& stmt) const {
    if (stmt.kind != ir::StmtKind::Assign) return false;
    for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) {
      if (module_[target].kind == ir::ExprKind::Name && ir::NameOf(module_[target]) == variable) return true;
    }
    return false;
  }

  bool IsLoss(ir::ExprId expr) const {
    return module_[expr].kind == ir::ExprKind::Name && ir::NameOf(module_[expr]) == name_;
  }

  // `total += loss`, `total = total + loss`, `losses.append(loss)`: the place of the loss; none otherwise.
  ir::ExprId KeptBy(ir::StmtId id) const {
    const ir::Stmt& stmt = module_[id];
    if (stmt.kind == ir::StmtKind::AugAssign && static_cast<ir::BinaryOp>(stmt.op) == ir::BinaryOp::Add) {
      return IsLoss(ir::ValueOf(stmt)) ? ir::ExprId::None() : LossIn(ir::AssignedOf(stmt));
    }
    if (stmt.kind != ir::StmtKind::Expr || module_[ir::ValueOf(stmt)].kind != ir::ExprKind::Call) return {};
    const ir::Expr& call = module_[ir::ValueOf(stmt)];
    const ir::Expr& callee = module_[ir::CalleeOf(call)];
    if (callee.kind != ir::ExprKind::Attribute || context_.program.text(ir::AttrOf(callee)) != "append") return {};
    return ir::ArgCount(module_, call) == 1 ? LossIn(ir::ArgAt(module_, call, 0).value) : ir::ExprId::None();
  }

  // Not in a loop of its own inside the step, which collects what the step computes its gradients of.
  bool IsKeptOverSteps(ir::ExprId kept, const std::vector<ir::StmtId>& loops) const {
    const std::vector<ir::StmtId> around = context_.index.LoopsAround({backward_.function, kept});
    if (around.empty() || std::ranges::find(loops, around.front()) == loops.end() || IsBegunInRound(kept, around.front())) return false;
    return !IsOverMicroSteps(around.front()) || !IsBegunInALoop(kept, around);
  }

  // `for _ in range(rounds)`, `for head, optimizer in zip(heads, optimizers)`: not over batches.
  bool IsOverMicroSteps(ir::StmtId loop) const {
    if (module_[loop].kind != ir::StmtKind::For) return false;
    const bool is_data = std::ranges::any_of(context_.loading.loops(), [&](const objects::LoaderLoop& each) {
      return each.loop == loop && context_.program.funcs[each.iterable.function].module == module_id_;
    });
    const ir::Expr& iterable = module_[ir::AssignedOf(module_[loop])];
    if (is_data || iterable.kind != ir::ExprKind::Call) return false;
    const std::string_view name = context_.values.External(context_.facts.value(module_id_, ir::CalleeOf(iterable)));
    return name == "builtins.range" || name == "builtins.zip";
  }

  // Each round sets it anew before it adds the loss.
  bool IsBegunInRound(ir::ExprId kept, ir::StmtId loop) const {
    const ir::Tree& tree = context_.index.tree(module_id_);
    const base::NameId total = KeptIn(tree.StatementOf(kept));
    for (uint32_t i = 0; total && i < module_.stmts.size(); ++i) {
      const ir::StmtId id{i};
      const ir::Stmt& stmt = module_[id];
      if (tree.Parent(id) == loop && stmt.begin <= module_[kept].begin && IsBegunAt(total, stmt)) return true;
    }
    return false;
  }

  // The sum or list begins anew in each round of a loop around: it lives for one step, over the micro-steps or the
  // networks of which that consists.
  bool IsBegunInALoop(ir::ExprId kept, const std::vector<ir::StmtId>& around) const {
    const base::NameId total = KeptIn(context_.index.tree(module_id_).StatementOf(kept));
    if (!total || around.size() < 2) return false;
    const ir::Tree& tree = context_.index.tree(module_id_);
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      const ir::StmtId id{i};
      if (IsBegunAt(total, module_[id]) && tree.Holds(around[1], id) && !tree.Holds(around[0], id)) return true;
    }
    return false;
  }

  // The variable that the loss is added or appended to.
  base::NameId KeptIn(ir::StmtId id) const {
    const ir::Stmt& stmt = module_[id];
    ir::ExprId into = ir::ValueOf(stmt);
    if (stmt.kind == ir::StmtKind::Expr) into = ir::ObjectOf(module_[ir::CalleeOf(module_[into])]);
    return module_[into].kind == ir::ExprKind::Name ? ir::NameOf(module_[into]) : base::NameId::None();
  }

  // The loss itself, or the loss times or divided by something.
  ir::ExprId LossIn(ir::ExprId expr) const {
    if (IsLoss(expr)) return expr;
    if (module_[expr].kind != ir::ExprKind::Binary) return {};
    const auto op = static_cast<ir::BinaryOp>(module_[expr].op);
    if (op != ir::BinaryOp::Mul && op != ir::BinaryOp::Div) return {};
    return IsLoss(ir::LeftOf(module_[expr])) ? ir::LeftOf(module_[expr]) : ir::ExprId::None();
  }

  // What is summed up may be what gradients are computed of later on.
  bool IsUsedForGradients(ir::StmtId stmt) const {
    const ir::ExprId target = module_[stmt].kind == ir::StmtKind::AugAssign ? ir::ValueOf(module_[stmt]) : ir::ExprId::None();
    if (!target) return false;
    const std::string text = std::string(TextOf(context_, module_id_, target)) + ".backward";
    const ir::Function& function = context_.program.function(backward_.function);
    const std::string_view body = TextOf(context_, {module_.file, function.begin, function.end});
    return body.find(text) != std::string_view::npos;
  }

  void Report(ir::StmtId stmt, ir::ExprId kept, FindingSink& sink) const {
    if (IsUsedForGradients(stmt)) return;
    const objects::Site site{backward_.function, kept};
    const std::string name = Quoted(context_, site);
    Finding finding = FindingAt(context_, kAR805, Severity::Warning, Confidence::Likely, site,
                                {"`{}` is stored with its autograd graph in every step: memory grows until it is released", {name}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"a live tensor", {}});
    AddLabel(finding, SpanOf(context_, backward_), LabelRole::Why, {"gradients are computed from its graph here", {}});
    finding.help = {"keep `{}.detach()`, or `{}.item()` if the number is needed at once", {name, name}};
    const uint32_t end = module_[kept].end;
    finding.fixes.push_back(MakeFix("keep the value without its graph", Applicability::Safe,
                                    {Replace({module_.file, end, end}, ".detach()")}));
    sink.push_back(std::move(finding));
  }

  const Context& context_;
  const objects::Site backward_;
  ir::ModuleId module_id_;
  const ir::Module& module_;
  base::NameId name_;
};

void CheckGraphKeptAlive(const Context& context, FindingSink& sink) {
  for (const objects::Site& backward : context.training.backwards()) Loss(context, backward).Visit(sink);
}

}  // namespace

extern const Rule GraphKeptAlive = {
    .code = kAR805,
    .name = "graph-kept-alive",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "loss that is summed up or collected together with its autograd graph",
    .explanation = R"md(
## What it finds

A loss of which gradients are computed in a loop and which is, in that loop, added to a running total
or appended to a list as a live tensor.

## Why it hurts

The total is computed from every loss so far, so it holds on to every node of every graph: a little more
memory each step, on every rank. A long epoch ends with `CUDA out of memory` in a place that has nothing
to do with it, on the rank with the longest batches first; the others then wait in a collective.

## Wrong

```python
for batch in loader:
    loss = model(batch).mean()
    loss.backward()
    total += loss
```

## Right

```python
for batch in loader:
    loss = model(batch).mean()
    loss.backward()
    total += loss.detach()
```

## When it is silent

* The loss was made a number or detached first, or assigned anew after the gradients were computed.
* Gradients of the total are computed in the same function.
* The value is kept for the step only: a variable that is assigned, not added to.

## Fix

`--fix` keeps `loss.detach()`. `loss.item()` would make the CPU wait for the device in every step.

## Proof

There is nothing to replay: each rank runs out of memory by itself.
)md",
    .check = CheckGraphKeptAlive,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
