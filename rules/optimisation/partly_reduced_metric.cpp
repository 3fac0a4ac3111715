#include <algorithm>
#include <optional>

#include "analyzer/ir/bindings.h"
#include "analyzer/objects/definitions.h"
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
      const FuncId function = FunctionAround(context_, module_id, id);
      if (!left || !right || !function) continue;
      const Site first = {function, NumberIn(module, ir::LeftOf(expr))}, second = {function, NumberIn(module, ir::RightOf(expr))};
      const bool numerator_only = (IsReduced(left) && IsOfItsShare(right)) || (IsReducedTotal(first) && IsTotalOfShare(second));
      const bool denominator_only = (IsReduced(right) && IsOfItsShare(left)) || (IsReducedTotal(second) && IsTotalOfShare(first));
      if ((!numerator_only && !denominator_only) || IsLossOfGradients(function, id)) continue;
      Report({function, id}, {function, numerator_only ? ir::RightOf(expr) : ir::LeftOf(expr)},
             {function, numerator_only ? ir::LeftOf(expr) : ir::RightOf(expr)});
    }
  }

  // `total` of `total.item()` and of `float(total)`.
  ir::ExprId NumberIn(const ir::Module& module, ir::ExprId expr) const {
    while (module[expr].kind == ir::ExprKind::Call) {
      const ir::Expr& callee = module[ir::CalleeOf(module[expr])];
      const bool is_method = callee.kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(callee)) == "item";
      const bool is_float = callee.kind == ir::ExprKind::Name && context_.program.text(ir::NameOf(callee)) == "float" && ir::ArgCount(module, module[expr]) == 1;
      if (!is_method && !is_float) break;
      expr = is_method ? ir::ObjectOf(callee) : ir::ArgAt(module, module[expr], 0).value;
    }
    return expr;
  }

  bool IsReduced(ValueId value) const {
    const variation::Value& node = context_.facts.values_store[value];
    return (node.flags & variation::kReduced) != 0 && node.axes.empty();
  }

  // It differs with the batches of a rank, and nobody has made it equal, or taken it times the number of ranks.
  bool IsOfItsShare(ValueId value) const {
    const variation::Value& node = context_.facts.values_store[value];
    const bool counts_ranks = context_.values.Mentions(value, knowledge::Coordinate::WorldSize) || context_.values.Mentions(value, knowledge::Coordinate::GroupSize);
    return node.axes.has(knowledge::Axis::Data) && (node.flags & variation::kReduced) == 0 && !counts_ranks;
  }

  // `self.total`, `sums["loss"]`: what is added to it is seen.
  bool IsTotal(const Site& place) const {
    const ir::Module& module = context_.program.module_of(place.function);
    const ir::Expr& expr = module[place.expr];
    if (expr.kind == ir::ExprKind::Attribute) return definitions_.IsSelf({place.function, ir::ObjectOf(expr)});
    return expr.kind == ir::ExprKind::Subscript && module[ir::LeftOf(expr)].kind == ir::ExprKind::Name &&
           module[ir::RightOf(expr)].kind == ir::ExprKind::Constant && context_.facts.value(context_.program.funcs[place.function].module, ir::RightOf(expr));
  }

  bool IsSameTotal(const Site& a, const Site& b) const {
    const binding::Func& one = context_.program.funcs[a.function];
    const binding::Func& other = context_.program.funcs[b.function];
    const ir::Module& module = context_.program.modules[one.module];
    if (one.module != other.module || module[a.expr].kind != module[b.expr].kind || !IsTotal(b)) return false;
    if (module[a.expr].kind == ir::ExprKind::Attribute) return one.owner == other.owner && ir::AttrOf(module[a.expr]) == ir::AttrOf(module[b.expr]);
    const auto key = [&](ir::ExprId expr) { return context_.facts.value(one.module, ir::RightOf(module[expr])); };
    return a.function == b.function && key(a.expr) == key(b.expr) && objects::IsSameChain(module, ir::LeftOf(module[a.expr]), ir::LeftOf(module[b.expr]));
  }

  // What is added to a total, in its function, or in the methods of its class.
  std::vector<Site> AddedTo(const Site& total) const {
    const ir::ModuleId module_id = context_.program.funcs[total.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    std::vector<Site> added;
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (stmt.kind != ir::StmtKind::AugAssign || static_cast<ir::BinaryOp>(stmt.op) != ir::BinaryOp::Add) continue;
      const FuncId function = context_.index.FunctionOf(module_id, ir::StmtId{i});
      if (IsSameTotal(total, {function, ir::ValueOf(stmt)})) added.push_back({function, ir::AssignedOf(stmt)});
    }
    return added;
  }

  // The calls that are given the total, or the table in which it is, the methods of that included.
  std::vector<Site> CallsGiven(const Site& total) const {
    const ir::ModuleId module_id = context_.program.funcs[total.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    std::vector<Site> given;
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Call)) {
      const FuncId function = FunctionAround(context_, module_id, id);
      const auto is_it = [&](ir::ExprId part) {
        if (IsSameTotal(total, {function, part})) return true;
        return module[total.expr].kind == ir::ExprKind::Subscript && function == total.function &&
               objects::IsSameChain(module, ir::LeftOf(module[total.expr]), part);
      };
      const ir::Expr& callee = module[ir::CalleeOf(module[id])];
      bool is_given = callee.kind == ir::ExprKind::Attribute && is_it(ir::ObjectOf(callee));
      for (uint32_t i = 0; i < ir::ArgCount(module, module[id]); ++i) is_given = is_given || is_it(ir::ArgAt(module, module[id], i).value);
      if (function && is_given) given.push_back({function, id});
    }
    return given;
  }

  // Whatever is added has been reduced, or it was itself, last of all before.
  bool IsReducedTotal(const Site& total) const {
    if (!IsTotal(total)) return false;
    const std::vector<Site> added = AddedTo(total);
    const auto value = [&](const Site& site) { return context_.facts.value(context_.program.funcs[site.function].module, site.expr); };
    const bool adds_reduced = !added.empty() && std::ranges::all_of(added, [&](const Site& site) { return value(site) && IsReduced(value(site)); });
    if (adds_reduced || IsReducedByMethod(total)) return true;
    const ir::Module& module = context_.program.module_of(total.function);
    return std::ranges::any_of(context_.index.KnownCallsIn(total.function), [&](const KnownCall& call) {
      const bool reduces = call.entry->has_operation && call.entry->operation.tensor_param &&
                           context_.program.text(call.entry->operation.kind) == "all_reduce" && module[call.expr].end < module[total.expr].begin;
      if (!reduces) return false;
      const ir::ExprId tensor = context_.index.ArgExpr(call, context_.program.text(call.entry->operation.tensor_param));
      if (!tensor || !IsSameTotal(total, {call.function, tensor})) return false;
      return context_.guards.Of({call.function, call.expr}).empty() && std::ranges::none_of(added, [&](const Site& site) {
        return site.function == total.function && module[site.expr].begin > module[call.expr].end && module[site.expr].begin < module[total.expr].begin;
      });
    });
  }

  // `def reduce(self): dist.all_reduce(self.total)`, which callers ask for before they ask another method for the quotient.
  bool IsReducedByMethod(const Site& total) const {
    const ir::Module& module = context_.program.module_of(total.function);
    if (module[total.expr].kind != ir::ExprKind::Attribute) return false;
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      if (call.function == total.function || !call.entry->has_operation || !call.entry->operation.tensor_param) return false;
      if (context_.program.text(call.entry->operation.kind) != "all_reduce" || !SumsUp(call)) return false;
      const ir::ExprId tensor = context_.index.ArgExpr(call, context_.program.text(call.entry->operation.tensor_param));
      const Site reduced{call.function, tensor};
      return tensor && IsSameTotal(total, reduced) && IsLastSaidOf(reduced, total) && !context_.index.CallersOf(call.function).empty();
    });
  }

  bool SumsUp(const KnownCall& call) const {
    const ValueId op = context_.index.Arg(call, "op");
    return !op || context_.values.External(op).ends_with("ReduceOp.SUM");
  }

  // The method that reduces it does nothing else to it: `self.total /= world_size`.
  bool IsLastSaidOf(const Site& reduced, const Site& total) const {
    const ir::ModuleId module_id = context_.program.funcs[reduced.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (context_.index.FunctionOf(module_id, ir::StmtId{i}) != reduced.function) continue;
      if (stmt.kind == ir::StmtKind::AugAssign && IsSameTotal(total, {reduced.function, ir::ValueOf(stmt)})) return false;
      if (stmt.kind != ir::StmtKind::Assign) continue;
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
        if (IsSameTotal(total, {reduced.function, target})) return false;
      }
    }
    return true;
  }

  // Each rank adds up what its batches say, and hands the total to nobody who might reduce it.
  bool IsTotalOfShare(const Site& total) const {
    if (!IsTotal(total)) return false;
    const std::vector<Site> added = AddedTo(total);
    const bool is_of_share = !added.empty() && std::ranges::all_of(added, [&](const Site& site) {
      const ValueId value = context_.facts.value(context_.program.funcs[site.function].module, site.expr);
      const std::vector<ValueId> leaves = value ? context_.values.Leaves(value) : std::vector<ValueId>();
      return !leaves.empty() && std::ranges::all_of(leaves, [&](ValueId leaf) { return IsOfItsShare(leaf); });
    });
    return is_of_share && std::ranges::all_of(CallsGiven(total), [&](const Site& call) { return OnlyReads(call); }) && !IsSetToReduced(total);
  }

  // `total.item()`, `float(total)`, `dist.all_reduce(sums["loss"])` of another item.
  bool OnlyReads(const Site& call) const {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::ExprId callee = ir::CalleeOf(module[call.expr]);
    const std::string_view called = context_.values.External(context_.facts.value(module_id, callee));
    return called.starts_with("builtins.") || MethodOf(context_, call) == "item";
  }

  bool IsSetToReduced(const Site& total) const {
    const ir::ModuleId module_id = context_.program.funcs[total.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (stmt.kind != ir::StmtKind::Assign) continue;
      const FuncId function = context_.index.FunctionOf(module_id, ir::StmtId{i});
      const ValueId value = context_.facts.value(module_id, ir::AssignedOf(stmt));
      const bool is_start = value && (variation::IsConstant(context_.facts.values_store[value]) || context_.facts.values_store.IsNewTensor(value));
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
        if (IsSameTotal(total, {function, target}) && !is_start && context_.facts.values_store.axes(value).empty()) return true;
      }
    }
    return false;
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
    if (const ir::StmtId adds = AddsInRounds(call, tensor)) return ReportCumulative(call, tensor, adds);
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (stmt.kind != ir::StmtKind::AugAssign || static_cast<ir::BinaryOp>(stmt.op) != ir::BinaryOp::Add) continue;
      if (context_.index.FunctionOf(module_id, ir::StmtId{i}) != call.function || stmt.begin > module[call.expr].begin) continue;
      const ir::ExprId total = ir::ValueOf(stmt);
      if (module[total].kind != ir::ExprKind::Attribute || !TextOf(context_, module_id, total).starts_with("self.")) continue;
      if (!IsKept(call, total, tensor)) continue;
      return ReportCumulative(call, total, ir::StmtId{i});
    }
  }

  void ReportCumulative(const KnownCall& call, ir::ExprId total, ir::StmtId adds) {
    Finding finding = FindingAt(context_, kAR409, Severity::Warning, Confidence::Likely, Site{call.function, call.expr},
                                {"`{}` keeps the sum over all ranks and adds to it: the next reduction counts that sum once per rank",
                                 {Quoted(context_, {call.function, total})}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"sums values that are already summed", {}});
    AddLabel(finding, context_.program.module_of(call.function).span(adds), LabelRole::Why, {"adds to what was kept", {}});
    finding.help = {"reduce only the new part, or reduce a copy where the result is read", {}};
    sink_.push_back(std::move(finding));
  }

  // `for x in loader: total += f(x); dist.all_reduce(total)`, where no round sets or divides the total.
  ir::StmtId AddsInRounds(const KnownCall& call, ir::ExprId tensor) const {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const std::vector<ir::StmtId> loops = context_.index.LoopsAround({call.function, call.expr});
    if (loops.empty() || !SumsUp(call) || module[tensor].kind != ir::ExprKind::Name) return {};
    const ir::Tree& tree = context_.index.tree(module_id);
    ir::StmtId adds;
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::StmtId id{i};
      if (context_.index.FunctionOf(module_id, id) != call.function || !tree.Holds(loops.front(), id)) continue;
      bool binds = false;
      ir::ForEachBinding(module, module[id], [&](const ir::Binding& binding) { binds = binds || binding.name == ir::NameOf(module[tensor]); });
      if (!binds) continue;
      const bool is_sum = module[id].kind == ir::StmtKind::AugAssign && static_cast<ir::BinaryOp>(module[id].op) == ir::BinaryOp::Add;
      if (!is_sum) return {};
      const ValueId added = context_.facts.value(module_id, ir::AssignedOf(module[id]));
      // In the innermost loop around both, and of a rank's own batches.
      const bool is_before = module[id].begin < module[call.expr].begin && added && IsOfItsShare(added);
      if (is_before && context_.index.LoopsAround(module_id, id).size() >= loops.size()) adds = id;
    }
    return adds && !IsChangedInPlace(call, tensor, loops.front()) ? adds : ir::StmtId::None();
  }

  // `total.zero_()`, `total.div_(world_size)`.
  bool IsChangedInPlace(const KnownCall& call, ir::ExprId tensor, ir::StmtId loop) const {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    return std::ranges::any_of(context_.index.ExprsOf(module_id, ir::ExprKind::Call), [&](ir::ExprId id) {
      const ir::Expr& callee = module[ir::CalleeOf(module[id])];
      const ir::StmtId stmt = tree.StatementOf(id);
      if (callee.kind != ir::ExprKind::Attribute || !stmt || !tree.Holds(loop, stmt)) return false;
      return objects::IsSameChain(module, ir::ObjectOf(callee), tensor) && context_.program.text(ir::AttrOf(callee)).ends_with("_");
    });
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

  // Set anew in the same function: the total does not outlive it. Also in place, by `total.zero_()`.
  bool IsReset(const KnownCall& call, std::string_view name) const {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (context_.index.FunctionOf(module_id, ir::StmtId{i}) != call.function) continue;
      if (stmt.kind == ir::StmtKind::Assign && TextOf(context_, module_id, ir::TargetsOf(module, stmt)[0]) == name) return true;
      if (stmt.kind == ir::StmtKind::Expr && SetsInPlace(module_id, ir::ValueOf(stmt), name)) return true;
    }
    return false;
  }

  bool SetsInPlace(ir::ModuleId module_id, ir::ExprId call, std::string_view name) const {
    const ir::Module& module = context_.program.modules[module_id];
    if (module[call].kind != ir::ExprKind::Call || module[ir::CalleeOf(module[call])].kind != ir::ExprKind::Attribute) return false;
    const ir::Expr& callee = module[ir::CalleeOf(module[call])];
    const std::string_view method = context_.program.text(ir::AttrOf(callee));
    return (method == "zero_" || method == "fill_") && TextOf(context_, module_id, ir::ObjectOf(callee)) == name;
  }

  const Context& context_;
  FindingSink& sink_;
  objects::Definitions definitions_{context_.program, context_.index};
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

* A division of which one side was reduced over the ranks and the other is what this rank counted: two
  variables, two items of a table, or two fields of an object that all of its methods add to, also where one
  method reduces (`def reduce(self): dist.all_reduce(self.total)`) and another divides.
* A running total that is reduced in place in each round of the loop that adds to it, and not set anew.
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

* The count of this rank is multiplied by the number of ranks, which have batches of one size.
* The other side is the same on all ranks: a length, a constant, the world size.
* A field or an item, or the table it is in, is handed to some other call: that may reduce it.
* The quotient is a loss of which gradients are computed.
* The total is set anew in the same function, also in place (`total.zero_()`), or the method that reduces it
  does something else to it as well (`self.total /= world_size`).

## Fix

There is none: what has to be reduced may be a number, which has to become a tensor first.

## Proof

There is nothing to replay: the ranks agree on what they call.
)md",
    .check = CheckPartlyReducedMetric};

}  // namespace allranks::rules
