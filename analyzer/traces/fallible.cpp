#include "analyzer/traces/fallible.h"

#include <algorithm>
#include <string_view>

namespace allranks::traces {
namespace {

base::NameId LastName(const ir::Module& module, ir::ExprId id) {
  const ir::Expr& expr = module[id];
  if (expr.kind == ir::ExprKind::Name) return ir::NameOf(expr);
  return expr.kind == ir::ExprKind::Attribute ? ir::AttrOf(expr) : base::NameId::None();
}

Breadth BreadthOf(const State& state, ir::ModuleId module_id, ir::ExprId type) {
  const ir::Module& module = state.program.modules[module_id];
  const ir::Expr& expr = module[type];
  if (expr.kind == ir::ExprKind::Tuple) {
    Breadth widest = Breadth::Uniform;
    for (const ir::ExprId item : ir::Items(module, expr)) widest = std::max(widest, BreadthOf(state, module_id, item));
    return widest;
  }
  const knowledge::Strikes strikes = state.knowledge.FindException(LastName(module, type));
  if (strikes == knowledge::Strikes::OneRank) return Breadth::Broad;
  // The project's own exceptions say what its data can be like.
  const ValueId value = state.facts.value(module_id, type);
  if (value && state.values[value].kind == variation::ValueKind::Class) return Breadth::Broad;
  return strikes == knowledge::Strikes::AllRanks ? Breadth::Uniform : Breadth::Narrow;
}

bool Inside(const ir::Expr& expr, uint32_t begin, uint32_t end) { return begin <= expr.begin && expr.end <= end; }

}  // namespace

Breadth HandlerBreadth(const State& state, ir::ModuleId module, const ir::Handler& handler) {
  return handler.type ? BreadthOf(state, module, handler.type) : Breadth::Broad;
}

bool CanFailOnOneRank(const State& state, FuncId func, ir::StmtId stmt) {
  const ir::Module& module = state.program.module_of(func);
  const uint32_t begin = module[stmt].begin;
  const uint32_t end = module[stmt].end;
  for (const auto& [expr_id, call] : state.facts.functions[func].calls) {
    const ir::Expr& expr = module[expr_id];
    if (expr.kind != ir::ExprKind::Call || !Inside(expr, begin, end)) continue;
    const bool is_known = call.kind == variation::CallKind::Known;
    if (is_known && state.program.text(state.knowledge[call.entry].name).ends_with(".__call__")) return true;
    // An operation that fails mostly fails for all that take part in it.
    if (is_known && state.knowledge[call.entry].has_operation) continue;
    if (state.knowledge.MayFail(LastName(module, ir::CalleeOf(expr)))) return true;
    // Running a module: out of memory, a bad batch.
    if (call.receiver && module[ir::CalleeOf(expr)].kind != ir::ExprKind::Attribute) return true;
  }
  return false;
}

}  // namespace allranks::traces
