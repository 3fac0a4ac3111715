#include "rules/collectives/first_step.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace allranks::rules {
namespace {

// The tests in the first round of a loop.
class FirstRound {
 public:
  FirstRound(const Context& context, ir::ModuleId module_id, ir::StmtId loop)
      : context_(context), module_id_(module_id), module_(context.program.modules[module_id]), counter_(CounterOf(module_[loop])) {}

  // Whether it is known to come out so, on the ranks that it is asked of.
  bool ComesOut(ir::ExprId id, bool wanted) const {
    const ir::Expr& test = module_[id];
    if (test.kind == ir::ExprKind::Bool) {
      const bool needs_all = (static_cast<ir::BoolOp>(test.op) == ir::BoolOp::And) == wanted;
      for (const ir::ExprId operand : ir::Items(module_, test)) {
        if (ComesOut(operand, wanted) != needs_all) return !needs_all;
      }
      return needs_all;
    }
    if (test.kind == ir::ExprKind::Unary && static_cast<ir::UnaryOp>(test.op) == ir::UnaryOp::Not) return ComesOut(ir::OperandOf(test), !wanted);
    if (IsZero(id)) return !wanted;
    if (test.kind == ir::ExprKind::Compare && ir::ComparisonCount(module_, test) == 1 && IsZero(ir::CalleeOf(test))) {
      const ir::Comparison comparison = ir::ComparisonAt(module_, test, 0);
      const ir::Expr& number = module_[comparison.operand];
      if (number.kind != ir::ExprKind::Constant || ir::ConstantKindOf(number) != ir::ConstantKind::Int) return false;
      const bool is_equal = ir::IntOf(number) == 0;
      return (comparison.op == ir::CompareOp::Eq && is_equal == wanted) || (comparison.op == ir::CompareOp::NotEq && is_equal != wanted);
    }
    const variation::ValueId value = context_.facts.value(module_id_, id);
    return value && !context_.facts.values_store.axes(value).empty();
  }

 private:
  // The number of the round, which begins at 0; none: nothing counts.
  base::NameId CounterOf(const ir::Stmt& loop) const {
    if (loop.kind != ir::StmtKind::For) return {};
    const ir::Expr& over = module_[ir::AssignedOf(loop)];
    if (over.kind != ir::ExprKind::Call || ir::ArgCount(module_, over) != 1) return {};
    const std::string_view callee = context_.values.External(context_.facts.value(module_id_, ir::CalleeOf(over)));
    const ir::Expr* target = &module_[ir::ValueOf(loop)];
    const bool is_numbered = callee == "builtins.enumerate" && target->kind == ir::ExprKind::Tuple;
    if (!is_numbered && callee != "builtins.range") return {};
    if (is_numbered) target = &module_[ir::Items(module_, *target)[0]];
    return target->kind == ir::ExprKind::Name ? ir::NameOf(*target) : base::NameId();
  }

  // `i` and `i % n`.
  bool IsZero(ir::ExprId id) const {
    const ir::Expr* expr = &module_[id];
    if (expr->kind == ir::ExprKind::Binary && static_cast<ir::BinaryOp>(expr->op) == ir::BinaryOp::Mod) expr = &module_[ir::LeftOf(*expr)];
    return counter_ && expr->kind == ir::ExprKind::Name && ir::NameOf(*expr) == counter_;
  }

  const Context& context_;
  const ir::ModuleId module_id_;
  const ir::Module& module_;
  const base::NameId counter_;
};

}  // namespace

bool IsBehindFirstStep(const Context& context, const objects::Site& site) {
  const std::vector<ir::StmtId> loops = context.index.LoopsAround(site);
  if (loops.empty()) return false;
  const ir::ModuleId module_id = context.program.funcs[site.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const ir::StmtId loop = loops.front();
  const bool is_behind = std::ranges::any_of(context.training.backwards(), [&](const objects::Site& backward) {
    if (backward.function != site.function || module[backward.expr].begin >= module[site.expr].begin) return false;
    const std::vector<ir::StmtId> around = context.index.LoopsAround(backward);
    return !around.empty() && around.front() == loop;
  });
  if (!is_behind) return false;
  const FirstRound round(context, module_id, loop);
  return std::ranges::all_of(context.guards.Of(site), [&](const objects::Guard& guard) {
    const bool is_inside = module[guard.test].begin >= module[loop].begin && module[guard.test].end <= module[loop].end;
    return !is_inside || round.ComesOut(guard.test, guard.holds);
  });
}

}  // namespace allranks::rules
