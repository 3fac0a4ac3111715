#include "rules/optimisation/late_no_sync.h"

#include <algorithm>
#include <optional>

#include "analyzer/binding/receiver.h"
#include "analyzer/ir/walk.h"
#include "rules/finding_parts.h"
#include "rules/optimisation/accumulation.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

// The call of `no_sync` in `model.no_sync()`, `nullcontext() if last else model.no_sync()`; none if it is none. DDP's takes no
// arguments; a framework's that is handed the model may read the flag later.
ir::ExprId NoSyncIn(const Context& context, const ir::Module& module, ir::ExprId item) {
  if (module[item].kind == ir::ExprKind::Conditional) {
    const ir::ExprId then_call = NoSyncIn(context, module, ir::ThenOf(module, module[item]));
    return then_call ? then_call : NoSyncIn(context, module, ir::ElseOf(module, module[item]));
  }
  if (module[item].kind != ir::ExprKind::Call) return {};
  const ir::Expr& callee = module[ir::CalleeOf(module[item])];
  return callee.kind == ir::ExprKind::Attribute && context.program.text(ir::AttrOf(callee)) == "no_sync" &&
                 ir::ArgCount(module, module[item]) == 0
             ? item
             : ir::ExprId::None();
}

// The model of `model.no_sync()` in the item; none if there is none.
ir::ExprId ModelIn(const Context& context, const ir::Module& module, ir::ExprId item) {
  const ir::ExprId made = NoSyncIn(context, module, item);
  return made ? ir::ObjectOf(module[ir::CalleeOf(module[made])]) : ir::ExprId::None();
}

// The call itself, or the one by which a variable was made in the same function; none if it is something else.
ir::ExprId NoSyncOf(const Context& context, const objects::Site& site) {
  const ir::Module& module = context.program.module_of(site.function);
  if (module[site.expr].kind != ir::ExprKind::Name) return NoSyncIn(context, module, site.expr);
  const ir::Function& function = context.program.function(site.function);
  for (const ir::Stmt& stmt : module.stmts) {
    if (stmt.kind != ir::StmtKind::Assign || stmt.begin < function.begin || stmt.end > function.end) continue;
    const ir::ExprList targets = ir::TargetsOf(module, stmt);
    if (targets.size() != 1 || !objects::IsSameChain(module, targets[0], site.expr)) continue;
    if (const ir::ExprId made = NoSyncIn(context, module, ir::AssignedOf(stmt))) return made;
  }
  return {};
}

// The block before the call that computes gradients, with the forward in it.
void AddForward(const Context& context, const objects::Site& caller, Finding& finding) {
  const ir::ModuleId module_id = context.program.funcs[caller.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const ir::StmtId here = context.index.StatementOf(caller);
  if (!here) return;
  ir::StmtId before;
  for (const ir::StmtId stmt : module.statements(context.index.tree(module_id).BlockOf(here))) {
    if (stmt == here) break;
    if (module[stmt].kind == ir::StmtKind::With) before = stmt;
  }
  if (before) AddLabel(finding, HeadOf(context, module_id, before), LabelRole::Note, {"contains the forward", {}});
}

// The number of the parameter that an expression reads.
std::optional<uint32_t> ParamRead(const Context& context, FuncId function, ir::ExprId expr) {
  const ir::Module& module = context.program.module_of(function);
  const auto& params = context.program.function(function).params;
  for (uint32_t i = 0; i < params.size() && module[expr].kind == ir::ExprKind::Name; ++i) {
    if (params[i].name == ir::NameOf(module[expr])) return i;
  }
  return std::nullopt;
}

// A loss that the caller computed: a parameter of which gradients are computed somewhere inside.
std::optional<ir::ExprId> LossOfCaller(const Context& context, ir::ModuleId module_id, ir::StmtId with) {
  const ir::Module& module = context.program.modules[module_id];
  const FuncId function = context.index.FunctionOf(module_id, with);
  for (const objects::Site& backward : context.training.backwards()) {
    if (backward.function != function || module[backward.expr].begin < module[with].begin || module[backward.expr].end > module[with].end) continue;
    const ir::ExprId loss = LossOf(context, backward);
    if (loss && ParamRead(context, function, loss)) return loss;
  }
  return std::nullopt;
}

// The argument of which a function of the project computes gradients; none if it runs the forward as well.
std::optional<ir::ExprId> LossHandedTo(const Context& context, ir::ModuleId module_id, ir::ExprId call, FuncId callee) {
  const ir::Module& module = context.program.modules[module_id];
  for (const objects::Site& backward : context.training.backwards()) {
    if (backward.function != callee) continue;
    const ir::ExprId loss = LossOf(context, backward);
    const std::optional<uint32_t> param = loss ? ParamRead(context, callee, loss) : std::nullopt;
    const uint32_t first = binding::HasReceiver(context.program, callee) ? 1 : 0;
    if (param && *param >= first && *param - first < ir::ArgCount(module, module[call])) return ir::ArgAt(module, module[call], *param - first).value;
  }
  return std::nullopt;
}

// `loss = loss / steps`: nothing is called.
bool OnlyReckons(const ir::Module& module, ir::StmtId stmt) {
  if (module[stmt].kind != ir::StmtKind::Assign && module[stmt].kind != ir::StmtKind::AugAssign) return false;
  bool calls = false;
  const auto is_call = [&](ir::ExprId part) { return module[part].kind == ir::ExprKind::Call; };
  ir::ForEachExpr(module, module[stmt], [&](ir::ExprId expr) { calls = calls || ir::AnyPart(module, expr, is_call); });
  return !calls;
}

std::optional<ir::ExprId> LossFromOutside(const Context& context, ir::ModuleId module_id, ir::StmtId with) {
  const ir::Module& module = context.program.modules[module_id];
  const auto body = module.statements(ir::BodyOf(module[with]));
  if (const std::optional<ir::ExprId> passed = LossOfCaller(context, module_id, with)) return passed;
  if (body.empty() || module[body.back()].kind != ir::StmtKind::Expr || !context.training.Trains(module_id, body.back())) return std::nullopt;
  if (!std::ranges::all_of(body.first(body.size() - 1), [&](ir::StmtId stmt) { return OnlyReckons(module, stmt); })) return std::nullopt;
  ir::ExprId at = ir::ValueOf(module[body.back()]);
  if (module[at].kind != ir::ExprKind::Call) return std::nullopt;
  const FuncId function = context.index.FunctionOf(module_id, with);
  for (const auto& [expr, fact] : context.facts.functions[function].calls) {
    if (expr == at && fact.function) return LossHandedTo(context, module_id, at, fact.function);
  }
  const bool is_handed = ir::ArgCount(module, module[at]) > 0 && ir::ArgAt(module, module[at], 0).kind == ir::ArgKind::Positional;
  if (is_handed) return ir::ArgAt(module, module[at], 0).value;
  const ir::Expr& callee = module[ir::CalleeOf(module[at])];
  if (callee.kind != ir::ExprKind::Attribute) return std::nullopt;
  // `scaler.scale(loss).backward(create_graph=True)`
  const ir::ExprId object = ir::ObjectOf(callee);
  const bool is_scaled = MethodOf(context, {function, object}) == "scale" && ir::ArgCount(module, module[object]) == 1;
  return is_scaled ? ir::ArgAt(module, module[object], 0).value : object;
}

// DDP's own flag is set before the forward.
bool SetsTheFlag(const Context& context, FuncId function) {
  return CountAttribute(context, function, "require_backward_grad_sync") > 0;
}

// The forward stands in the expression itself: `(model(batch).mean() / n).backward()`.
bool RunsForward(const Context& context, const objects::Site& loss, ir::ExprId no_sync) {
  const ir::Module& module = context.program.module_of(loss.function);
  const ir::ExprId model = ModelIn(context, module, no_sync);
  if (!model) return false;
  return std::ranges::any_of(CallsIn(context, loss.function), [&](const objects::Site& call) {
    const bool is_inside = module[call.expr].begin >= module[loss.expr].begin && module[call.expr].end <= module[loss.expr].end;
    return is_inside && objects::IsSameChain(module, ir::CalleeOf(module[call.expr]), model);
  });
}

// A wrapper of the program may ask whenever it likes.
bool HasOwnNoSync(const Context& context, ProgramCalls& calls, ir::ModuleId file) {
  const base::NameId no_sync = context.program.names->Find("no_sync");
  const std::vector<ir::ModuleId>& files = calls.FilesOf(file);
  return no_sync && std::ranges::any_of(context.program.classes, [&](const binding::ClassInfo& each) {
    return std::ranges::count(files, each.module) > 0 &&
           std::ranges::any_of(each.methods, [&](const auto& method) { return method.first == no_sync; });
  });
}

// FSDP asks at the end of the backward whether to reduce: there `no_sync` around the backward alone is in time. A model of
// which nothing is known here is what the program wraps models in.
bool DecidesInBackward(const Context& context, ProgramCalls& calls, const objects::Site& item) {
  constexpr std::string_view kDdp = "torch.nn.parallel.DistributedDataParallel";
  constexpr std::string_view kFsdp = "torch.distributed.fsdp.FullyShardedDataParallel";
  const ir::Module& module = context.program.module_of(item.function);
  const ir::ExprId model = ModelIn(context, module, item.expr);
  if (!model) return false;
  const std::vector<variation::ValueId> models = context.values.Leaves(context.facts.value(context.program.funcs[item.function].module, model));
  const auto is_any = [&](std::string_view wrapper) {
    return std::ranges::any_of(models, [&](variation::ValueId each) { return context.values.IsA(each, wrapper); });
  };
  if (is_any(kDdp)) return false;
  if (is_any(kFsdp) || is_any("torch.distributed.fsdp.FSDPModule")) return true;
  const ir::ModuleId file = context.program.funcs[item.function].module;
  if (HasOwnNoSync(context, calls, file)) return true;
  return calls.Has(file, kFsdp) && !calls.Has(file, kDdp);
}

// The statement of the same block, before this one, that calls the model whose `no_sync` it is.
ir::StmtId ForwardBefore(const Context& context, ir::ModuleId module_id, ir::StmtId with, ir::ExprId no_sync) {
  const ir::Module& module = context.program.modules[module_id];
  const ir::ExprId model = ModelIn(context, module, no_sync);
  if (!model) return {};
  ir::StmtId forward;
  for (const ir::StmtId stmt : module.statements(context.index.tree(module_id).BlockOf(with))) {
    if (stmt == with) break;
    const bool calls = std::ranges::any_of(CallsIn(context, context.index.FunctionOf(module_id, with)), [&](const objects::Site& call) {
      const bool is_inside = module[call.expr].begin >= module[stmt].begin && module[call.expr].end <= module[stmt].end;
      return is_inside && objects::IsSameChain(module, ir::CalleeOf(module[call.expr]), model);
    });
    if (calls) forward = stmt;
  }
  return forward;
}

// The model is called in another `no_sync` of it in the same function: the forward asked for no reduction, too.
bool RanUnderNoSync(const Context& context, const objects::Site& item) {
  const ir::ModuleId module_id = context.program.funcs[item.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const ir::ExprId model = ModelIn(context, module, item.expr);
  if (!model) return false;
  return std::ranges::any_of(CallsIn(context, item.function), [&](const objects::Site& call) {
    if (!objects::IsSameChain(module, ir::CalleeOf(module[call.expr]), model)) return false;
    const ir::Tree& tree = context.index.tree(module_id);
    for (ir::StmtId around = tree.Parent(context.index.StatementOf(call)); around; around = tree.Parent(around)) {
      if (module[around].kind != ir::StmtKind::With) continue;
      const auto items = ir::WithItemsOf(module, module[around]);
      const bool is_same = std::ranges::any_of(items, [&](const ir::WithItem& each) {
        const ir::ExprId made = NoSyncOf(context, {item.function, each.context});
        const ir::ExprId other = made ? ModelIn(context, module, made) : ir::ExprId();
        return other && objects::IsSameChain(module, other, model);
      });
      if (is_same) return true;
    }
    return false;
  });
}

// What the head of the `with` reads is set in between.
bool IsSetBetween(const ir::Module& module, ir::StmtId first, ir::StmtId with) {
  const auto is_name_within = [&](const ir::Expr& expr, uint32_t begin, uint32_t end) {
    return expr.kind == ir::ExprKind::Name && expr.begin >= begin && expr.end <= end;
  };
  const uint32_t body = module[module.statements(ir::BodyOf(module[with])).front()].begin;
  for (const ir::Stmt& stmt : module.stmts) {
    if (stmt.kind != ir::StmtKind::Assign || stmt.begin < module[first].begin || stmt.end > module[with].begin) continue;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      const bool is_read = module[target].kind == ir::ExprKind::Name && std::ranges::any_of(module.exprs, [&](const ir::Expr& expr) {
        return is_name_within(expr, module[with].begin, body) && ir::NameOf(expr) == ir::NameOf(module[target]);
      });
      if (is_read) return true;
    }
  }
  return false;
}

// Around the forward as well, where both stand in one block; else the flag is set to what the step asks for.
void AddNoSyncFix(const Context& context, ir::ModuleId module_id, ir::StmtId with, ir::ExprId no_sync, Finding& finding) {
  const ir::Module& module = context.program.modules[module_id];
  const FuncId function = context.index.FunctionOf(module_id, with);
  if (const ir::StmtId forward = ForwardBefore(context, module_id, with, no_sync)) {
    std::vector<findings::Edit> edits;
    if (!IsSetBetween(module, forward, with)) edits = EncloseFrom(context, module_id, forward, with);
    if (!edits.empty()) finding.fixes.push_back(MakeFix("put the forward inside, too", Applicability::Unsafe, std::move(edits)));
    return;
  }
  for (const objects::AccumulationWindow& window : context.accumulation.windows()) {
    for (const objects::Site& backward : context.training.backwards()) {
      const bool is_inside = backward.function == function && module[backward.expr].begin >= module[with].begin && module[backward.expr].end <= module[with].end;
      if (!is_inside || window.function != function) continue;
      std::optional<findings::Fix> fix = ReduceWhereItSteps(context, window, backward);
      if (!fix) continue;
      finding.fixes.push_back(std::move(*fix));
      return;
    }
  }
}

}  // namespace

void VisitLateNoSync(const Context& context, std::string_view code, FindingSink& sink) {
  ProgramCalls calls(context);
  for (uint32_t m = 0; m < context.program.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    const ir::Module& module = context.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::StmtId id{i};
      if (module[id].kind != ir::StmtKind::With) continue;
      const auto items = ir::WithItemsOf(module, module[id]);
      const auto item = std::ranges::find_if(items, [&](const ir::WithItem& each) {
        return NoSyncOf(context, {context.index.FunctionOf(module_id, id), each.context}).has_value();
      });
      if (item == items.end()) continue;
      const std::optional<ir::ExprId> loss = LossFromOutside(context, module_id, id);
      const FuncId function = context.index.FunctionOf(module_id, id);
      if (!loss || SetsTheFlag(context, function) || module[*loss].kind == ir::ExprKind::Call || module[*loss].kind == ir::ExprKind::Constant) continue;
      const ir::ExprId no_sync = NoSyncOf(context, {function, item->context});
      // Of several which one encloses what is not followed.
      if (no_sync != item->context && CountAttribute(context, function, "no_sync") > 1) continue;
      if (RunsForward(context, {function, *loss}, no_sync) || DecidesInBackward(context, calls, {function, no_sync}) ||
          RanUnderNoSync(context, {function, no_sync})) {
        continue;
      }
      Finding finding = FindingAt(context, code, Severity::Warning, Confidence::Likely, objects::Site{function, item->context},
                                  {"`no_sync` encloses the backward of `{}` only: whether to reduce is decided in the forward, "
                                   "which ran before, so every micro-step is reduced anyway",
                                   {Quoted(context, {function, *loss})}});
      AddLabel(finding, finding.span, LabelRole::Primary, {"too late", {}});
      for (const objects::Site& caller : context.index.CallersOf(function)) {
        AddLabel(finding, SpanOf(context, caller), LabelRole::Call, {"the forward ran before this", {}});
        AddForward(context, caller, finding);
      }
      finding.is_in_preview = BelongsInPreview(context, function, finding);
      finding.help = {"put the forward inside, too", {}};
      finding.witness = AccumulationWitness(context, {}, SpanOf(context, {function, *loss}));
      AddNoSyncFix(context, module_id, id, no_sync, finding);
      sink.push_back(std::move(finding));
    }
  }
}

}  // namespace allranks::rules
