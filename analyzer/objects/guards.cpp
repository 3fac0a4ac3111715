#include "analyzer/objects/guards.h"

namespace allranks::objects {
namespace {

// `local_rank == -1`, `rank in (0, -1)`; not `rank < count` nor `rank is not None`, which all ranks pass.
bool AsksForOneValue(const ir::Module& module, ir::ExprId test) {
  const ir::Expr& expr = module[test];
  if (expr.kind != ir::ExprKind::Compare || ir::ComparisonCount(module, expr) != 1) return false;
  const ir::CompareOp op = ir::ComparisonAt(module, expr, 0).op;
  return op == ir::CompareOp::Eq || op == ir::CompareOp::In;
}

// Whether a block ends by leaving the function or the loop.
bool Leaves(const ir::Module& module, ir::BlockId block) {
  const auto stmts = module.statements(block);
  if (stmts.empty()) return false;
  const ir::Stmt& last = module[stmts.back()];
  switch (last.kind) {
    case ir::StmtKind::With:
      return Leaves(module, ir::BodyOf(last));
    case ir::StmtKind::Return:
    case ir::StmtKind::Raise:
    case ir::StmtKind::Break:
    case ir::StmtKind::Continue:
      return true;
    default:
      return false;
  }
}

// The statements before one, in its block and in the blocks around it.
template <class Visit>
void ForEachBefore(const ir::Module& module, const ir::Tree& tree, ir::StmtId stmt, Visit visit) {
  for (ir::StmtId inner = stmt; inner; inner = tree.Parent(inner)) {
    for (const ir::StmtId earlier : module.statements(tree.BlockOf(inner))) {
      if (earlier == inner) break;
      visit(module[earlier]);
    }
  }
}

}  // namespace

std::vector<Guard> Guards::Of(const Site& site) const {
  std::vector<Guard> guards;
  AddOfExpression(site, guards);
  const ir::StmtId stmt = index_.StatementOf(site);
  if (stmt) AddOfStatement(site.function, stmt, guards);
  return guards;
}

std::vector<Guard> Guards::Of(FuncId function, ir::StmtId stmt) const {
  std::vector<Guard> guards;
  AddOfStatement(function, stmt, guards);
  return guards;
}

std::vector<Guard> Guards::AssertionsBefore(FuncId function, ir::StmtId stmt) const {
  std::vector<Guard> assertions;
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  ForEachBefore(module, index_.tree(module_id), stmt, [&](const ir::Stmt& earlier) {
    if (earlier.kind == ir::StmtKind::Assert) assertions.push_back({function, ir::ValueOf(earlier), true});
  });
  return assertions;
}

// `rank == 0 and save()`, `save() if rank == 0 else None`.
void Guards::AddOfExpression(const Site& site, std::vector<Guard>& guards) const {
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  ir::ExprId inner = site.expr;
  for (ir::ExprId outer = tree.Parent(inner); outer; inner = outer, outer = tree.Parent(outer)) {
    const ir::Expr& expr = module[outer];
    if (expr.kind == ir::ExprKind::Bool) {
      const bool is_and = static_cast<ir::BoolOp>(expr.op) == ir::BoolOp::And;
      for (const ir::ExprId item : ir::Items(module, expr)) {
        if (item == inner) break;
        guards.push_back({site.function, item, is_and});
      }
    }
    if (expr.kind == ir::ExprKind::Conditional && inner != ir::TestOf(expr)) {
      guards.push_back({site.function, ir::TestOf(expr), inner == ir::ThenOf(module, expr)});
    }
  }
}

void Guards::AddOfStatement(FuncId function, ir::StmtId stmt, std::vector<Guard>& guards) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  for (ir::StmtId inner = stmt; inner; inner = tree.Parent(inner)) {
    AddEarlierExits(function, inner, guards);
    const ir::StmtId outer = tree.Parent(inner);
    if (!outer || module[outer].kind != ir::StmtKind::If) continue;
    guards.push_back({function, ir::ValueOf(module[outer]), tree.BlockOf(inner) == ir::BodyOf(module[outer])});
  }
}

// `if rank != 0: return` before the place, in the same block, or `assert rank == 0`.
void Guards::AddEarlierExits(FuncId function, ir::StmtId stmt, std::vector<Guard>& guards) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  for (const ir::StmtId id : module.statements(index_.tree(module_id).BlockOf(stmt))) {
    if (id == stmt) return;
    const ir::Stmt& earlier = module[id];
    if (earlier.kind == ir::StmtKind::Assert && AsksForOneValue(module, ir::ValueOf(earlier))) guards.push_back({function, ir::ValueOf(earlier), true});
    if (earlier.kind != ir::StmtKind::If) continue;
    const bool then_leaves = Leaves(module, ir::BodyOf(earlier));
    const bool else_leaves = Leaves(module, ir::ElseBlockOf(earlier));
    if (then_leaves != else_leaves) guards.push_back({function, ir::ValueOf(earlier), else_leaves});
  }
}

std::vector<NestedExit> Guards::NestedExitsBefore(const Site& site) const {
  std::vector<NestedExit> exits;
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::Module& module = program_.modules[module_id];
  ForEachBefore(module, index_.tree(module_id), index_.StatementOf(site), [&](const ir::Stmt& earlier) {
    if (earlier.kind != ir::StmtKind::If) return;
    for (const ir::StmtId id : module.statements(ir::BodyOf(earlier))) {
      const ir::Stmt& stmt = module[id];
      if (stmt.kind != ir::StmtKind::If || !Leaves(module, ir::BodyOf(stmt)) || Leaves(module, ir::ElseBlockOf(stmt))) continue;
      exits.push_back({{site.function, ir::ValueOf(earlier), true}, {site.function, ir::ValueOf(stmt), false}});
    }
  });
  return exits;
}

std::vector<Guard> Guards::LoopsAround(const Site& site) const {
  std::vector<Guard> entries;
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  for (ir::StmtId inner = index_.StatementOf(site); inner; inner = tree.Parent(inner)) {
    const ir::StmtId outer = tree.Parent(inner);
    if (!outer || tree.BlockOf(inner) != ir::BodyOf(module[outer])) continue;
    if (module[outer].kind == ir::StmtKind::For) entries.push_back({site.function, ir::AssignedOf(module[outer]), true});
    if (module[outer].kind == ir::StmtKind::While) entries.push_back({site.function, ir::ValueOf(module[outer]), true});
  }
  return entries;
}

}  // namespace allranks::objects
