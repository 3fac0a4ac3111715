#include "analyzer/traces/peer_loops.h"

#include <algorithm>

#include "analyzer/traces/conditions.h"

namespace allranks::traces {
namespace {

// What a loop or a comprehension over `items` binds.
ir::ExprId TargetOf(const ir::Module& module, ir::ExprId items) {
  for (const ir::Stmt& stmt : module.stmts) {
    if (stmt.kind == ir::StmtKind::For && ir::AssignedOf(stmt) == items) return ir::ValueOf(stmt);
  }
  for (const ir::Expr& expr : module.exprs) {
    if (expr.kind != ir::ExprKind::Comprehension) continue;
    for (const ir::Clause& clause : ir::ClausesOf(module, expr)) {
      if (clause.iter == items) return clause.target;
    }
  }
  return ir::ExprId::None();
}

}  // namespace

PeerLoop PeerLoopOf(const State& state, TraceId loop) {
  const Trace& trace = state.traces[loop];
  if (trace.kind != TraceKind::Loop || static_cast<LoopKind>(trace.payload) != LoopKind::Counted) return {};
  const Site& site = state.traces.site(trace.site);
  const ir::ModuleId module_id = state.program.funcs[site.function].module;
  const ir::Module& module = state.program.modules[module_id];
  const ir::ExprId target = site.expr ? TargetOf(module, site.expr) : ir::ExprId::None();
  if (!target) return {};
  const ValueId element = state.facts.value(module_id, target);
  // What is not told apart from other unknowns stands for no item.
  if (!element || state.values[element].kind != variation::ValueKind::Unknown) return {};
  return {element, WithPassed(state.program, state.facts, site.function, state.facts.value(module_id, site.expr))};
}

bool HangsOn(const State& state, const SequenceStore& sequences, SeqId list, ValueId element, int depth) {
  constexpr int kDeepest = 20;
  if (!element || depth > kDeepest) return false;
  const auto hangs = [&](ValueId value) { return value && IsMadeOf(state.values, value, element); };
  for (SeqId at = list; at != kNothing && at != kRaised; at = sequences[at].next) {
    const Item& item = sequences[at];
    if (item.kind == ItemKind::Op) {
      const Operation& operation = state.traces.operation(item.origin);
      const bool is_told = hangs(operation.peer) || hangs(operation.tag) || hangs(operation.from) || hangs(operation.from_tag);
      if (is_told && knowledge::IsMessage(state.traces.entry(item.origin).operation.op_class)) return true;
      continue;
    }
    if (item.kind == ItemKind::Choice && hangs(state.traces[item.origin].value)) return true;
    if (item.a && HangsOn(state, sequences, item.a, element, depth + 1)) return true;
    if (item.b && HangsOn(state, sequences, item.b, element, depth + 1)) return true;
  }
  return false;
}

}  // namespace allranks::traces
