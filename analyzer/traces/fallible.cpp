#include "analyzer/traces/fallible.h"

#include <algorithm>
#include <string_view>

#include "analyzer/ir/walk.h"

namespace allranks::traces {
namespace {

base::NameId LastName(const ir::Module& module, ir::ExprId id) {
  const ir::Expr& expr = module[id];
  if (expr.kind == ir::ExprKind::Name) return ir::NameOf(expr);
  return expr.kind == ir::ExprKind::Attribute ? ir::AttrOf(expr) : base::NameId::None();
}

using knowledge::Axes;

bool Inside(const ir::Expr& expr, uint32_t begin, uint32_t end) { return begin <= expr.begin && expr.end <= end; }

// In C++ what fails is what says `throw`: under a test of the rank's own data, files or clock it fails there alone.
class OwnThrows {
 public:
  explicit OwnThrows(const State& state) : state_(state) {}

  bool InStmt(FuncId func, ir::StmtId id, bool decided, int depth) {
    const ir::Module& module = state_.program.module_of(func);
    const ir::Stmt& stmt = module[id];
    if (stmt.kind == ir::StmtKind::Raise) return decided;
    // What a handler of its own catches does not come out.
    if (stmt.kind == ir::StmtKind::Try) return false;
    bool throws = InCalls(func, stmt, depth);
    const bool decides = stmt.kind == ir::StmtKind::If && IsOwn(func, ir::ValueOf(stmt));
    ir::ForEachBlock(module, stmt, [&](ir::BlockId block) {
      for (const ir::StmtId inner : module.statements(block)) {
        throws = throws || InStmt(func, inner, decided || decides, depth);
      }
    });
    return throws;
  }

 private:
  static constexpr int kDeepest = 4;

  // Something in the test: that there is no file is the failure, though `file == nullptr` speaks of presence alone.
  bool IsOwn(FuncId func, ir::ExprId test) const {
    return ir::AnyPart(state_.program.module_of(func), test, [&](ir::ExprId part) {
      const ValueId value = state_.facts.value(state_.program.funcs[func].module, part);
      return value && !(state_.values.axes(value) & knowledge::kSoftAxes).empty();
    });
  }

  // Calls in the statement itself; those in its blocks are theirs.
  bool InCalls(FuncId func, const ir::Stmt& stmt, int depth) {
    if (depth >= kDeepest) return false;
    const ir::Module& module = state_.program.module_of(func);
    bool throws = false;
    ir::ForEachExpr(module, stmt, [&](ir::ExprId part) {
      for (const auto& [expr, call] : state_.facts.functions[func].calls) {
        const bool is_own = call.kind == variation::CallKind::Function || call.kind == variation::CallKind::Construct;
        if (throws || !is_own || !call.function || !Inside(module[expr], module[part].begin, module[part].end)) continue;
        const ir::Module& callee = state_.program.module_of(call.function);
        for (const ir::StmtId inner : callee.statements(state_.program.function(call.function).body)) {
          throws = throws || InStmt(call.function, inner, false, depth + 1);
        }
      }
    });
    return throws;
  }

  const State& state_;
};

}  // namespace

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

Breadth HandlerBreadth(const State& state, ir::ModuleId module, const ir::Handler& handler) {
  return handler.type ? BreadthOf(state, module, handler.type) : Breadth::Broad;
}

std::span<const CallPlaces::Call* const> CallPlaces::BeginningIn(uint32_t begin, uint32_t end) {
  const ir::Module& module = state_.program.module_of(function_);
  const auto begin_of = [&](const Call* call) { return module[call->first].begin; };
  if (calls_.empty()) {
    for (const Call& call : state_.facts.functions[function_].calls) calls_.push_back(&call);
    std::ranges::stable_sort(calls_, {}, begin_of);
  }
  const auto first = std::ranges::lower_bound(calls_, begin, {}, begin_of);
  return {first, std::ranges::upper_bound(first, calls_.end(), end, {}, begin_of)};
}

bool CanFailOnOneRank(const State& state, CallPlaces& calls, ir::StmtId stmt) {
  const FuncId func = calls.function();
  const ir::Module& module = state.program.module_of(func);
  if (module.language != ir::Language::Python && OwnThrows(state).InStmt(func, stmt, false, 0)) return true;
  const uint32_t begin = module[stmt].begin;
  const uint32_t end = module[stmt].end;
  for (const CallPlaces::Call* each : calls.BeginningIn(begin, end)) {
    const auto& [expr_id, call] = *each;
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
