#include "rules/memory/host_saves.h"

#include <algorithm>
#include <set>

namespace allranks::rules {
namespace {

using objects::FlowInto;
using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kToHost = ".cpu";
// Helpers that call helpers.
constexpr int kDeepest = 3;

}  // namespace

bool HostSaves::Has(const objects::FileUse& save) {
  const auto callers = context_.index.CallersOf(save.way.front().function);
  const auto is_moved = [&](const Site& site) { return IsGivenMoved(site); };
  return std::ranges::any_of(save.way, is_moved) || std::ranges::any_of(callers, is_moved);
}

bool HostSaves::IsGivenMoved(const Site& call) {
  const ir::Module& module = context_.program.module_of(call.function);
  if (module[call.expr].kind != ir::ExprKind::Call) return false;
  for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
    if (IsMoved(call.function, ir::ArgAt(module, module[call.expr], i).value, 0)) return true;
  }
  return false;
}

bool HostSaves::IsMoved(FuncId function, ir::ExprId saved, int depth) {
  const FlowInto flow(context_.program, context_.index, function, saved);
  const auto is_move = [&](const KnownCall& call) {
    return call.function == function && context_.program.text(call.entry->name).ends_with(kToHost) && IsMovedInto(call, flow);
  };
  if (std::ranges::any_of(context_.index.known_calls(), is_move)) return true;
  if (depth < kDeepest && IsItemMoved(function, flow, depth + 1)) return true;
  return std::ranges::any_of(context_.facts.functions[function].calls, [&](const auto& call) {
    const auto& [expr, fact] = call;
    return fact.function && flow.Holds(expr) && depth < kDeepest && Returns(fact.function, depth + 1);
  });
}

// `checkpoint["model"] = to_host(state)` of a table in it.
bool HostSaves::IsItemMoved(FuncId function, const FlowInto& flow, int depth) {
  const ir::ModuleId module_id = context_.program.funcs[function].module;
  const ir::Module& module = context_.program.modules[module_id];
  std::set<base::NameId> tables;
  for (uint32_t i = 0; i < module.exprs.size(); ++i) {
    if (flow.Holds(ir::ExprId{i}) && module[ir::ExprId{i}].kind == ir::ExprKind::Name) tables.insert(ir::NameOf(module[ir::ExprId{i}]));
  }
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::Assign || context_.index.FunctionOf(module_id, ir::StmtId{i}) != function) continue;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      if (module[target].kind != ir::ExprKind::Subscript) continue;
      const ir::Expr& table = module[ir::ObjectOf(module[target])];
      const bool is_item = table.kind == ir::ExprKind::Name && tables.contains(ir::NameOf(table));
      if (is_item && IsMoved(function, ir::AssignedOf(stmt), depth)) return true;
    }
  }
  return false;
}

// `x.cpu()` in it, `host[key] = x.cpu()` of a table in it, or `model.cpu()` of a model in it.
bool HostSaves::IsMovedInto(const KnownCall& move, const FlowInto& flow) const {
  if (flow.Holds(move.expr)) return true;
  const ir::ModuleId module_id = context_.program.funcs[move.function].module;
  const ir::Module& module = context_.program.modules[module_id];
  const ir::StmtId stmt = context_.index.StatementOf({move.function, move.expr});
  const bool is_stored = stmt && module[stmt].kind == ir::StmtKind::Assign;
  const ir::Expr& callee = module[ir::CalleeOf(module[move.expr])];
  const ValueId model = callee.kind == ir::ExprKind::Attribute ? context_.facts.value(module_id, ir::ObjectOf(callee)) : ValueId();
  for (uint32_t i = 0; i < module.exprs.size(); ++i) {
    const ir::ExprId part{i};
    if (!flow.Holds(part)) continue;
    if (model && context_.facts.value(module_id, part) == model) return true;
    if (!is_stored || module[part].kind != ir::ExprKind::Name) continue;
    for (const ir::ExprId target : ir::TargetsOf(module, module[stmt])) {
      if (module[target].kind != ir::ExprKind::Subscript) continue;
      const ir::Expr& table = module[ir::ObjectOf(module[target])];
      if (table.kind == ir::ExprKind::Name && ir::NameOf(table) == ir::NameOf(module[part])) return true;
    }
  }
  return false;
}

bool HostSaves::Returns(FuncId function, int depth) {
  const auto [known, is_new] = returns_.try_emplace(function.index, false);
  if (!is_new) return known->second;
  const ir::ModuleId module_id = context_.program.funcs[function].module;
  const ir::Module& module = context_.program.modules[module_id];
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::Return || !ir::ValueOf(stmt) || context_.index.FunctionOf(module_id, ir::StmtId{i}) != function) continue;
    if (IsMoved(function, ir::ValueOf(stmt), depth)) return returns_[function.index] = true;
  }
  return false;
}

}  // namespace allranks::rules
