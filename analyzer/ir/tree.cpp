#include "analyzer/ir/tree.h"

#include <algorithm>

#include "analyzer/ir/walk.h"

namespace allranks::ir {

Tree::Tree(const Module& module) : module_(module) {
  expr_parent_.resize(module.exprs.size());
  expr_stmt_.resize(module.exprs.size());
  stmt_parent_.resize(module.stmts.size());
  stmt_block_.resize(module.stmts.size());
  stmt_function_.resize(module.stmts.size());
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    AddBlock(module.functions[FunctionId{i}].body, {}, FunctionId{i});
  }
}

bool Tree::Holds(StmtId outer, StmtId inner) const {
  while (inner && inner != outer) inner = Parent(inner);
  return inner.has_value();
}

bool Tree::IsInClass(StmtId stmt) const {
  StmtId around = Parent(stmt);
  while (around && module_[around].kind != StmtKind::ClassDef) around = Parent(around);
  return around.has_value();
}

void Tree::AddBlock(BlockId block, StmtId parent, FunctionId function) {
  for (const StmtId stmt : module_.statements(block)) {
    stmt_parent_[stmt] = parent;
    stmt_block_[stmt] = block;
    stmt_function_[stmt] = function;
    AddStmt(stmt, function);
  }
}

void Tree::AddStmt(StmtId id, FunctionId function) {
  const Stmt& stmt = module_[id];
  ForEachExpr(module_, stmt, [&](ExprId expr) { AddExpr(expr, {}, id); });
  ForEachBlock(module_, stmt, [&](BlockId block) { AddBlock(block, id, function); });
  // The statements of a class run where the class is defined.
  if (stmt.kind == StmtKind::ClassDef) AddBlock(module_.classes[ClassOf(stmt)].body, id, function);
}

void Tree::AddExpr(ExprId expr, ExprId parent, StmtId stmt) {
  expr_parent_[expr] = parent;
  expr_stmt_[expr] = stmt;
  ForEachPart(module_, expr, [&](ExprId part) { AddExpr(part, expr, stmt); });
}

bool Tree::LeavesBehind(StmtId loop, StmtId stmt) const {
  const auto is_loop = [&](StmtId id) { return module_[id].kind == StmtKind::For || module_[id].kind == StmtKind::While; };
  for (StmtId at = stmt; at && at != loop; at = Parent(at)) {
    StmtId around = Parent(at);
    while (around && !is_loop(around)) around = Parent(around);
    const auto block = module_.statements(BlockOf(at));
    const auto behind = std::ranges::find(block, at);
    const bool leaves = std::any_of(behind, block.end(), [&](StmtId each) {
      return module_[each].kind == StmtKind::Return || (module_[each].kind == StmtKind::Break && around == loop);
    });
    if (leaves) return true;
  }
  return false;
}

bool Tree::RaisesBehind(StmtId stmt) const {
  bool raises = false;
  for (StmtId at = stmt; at; at = Parent(at)) {
    if (module_[at].kind == StmtKind::Try) return false;
    const auto block = module_.statements(BlockOf(at));
    raises = raises || std::any_of(std::ranges::find(block, at), block.end(), [&](StmtId each) { return module_[each].kind == StmtKind::Raise; });
  }
  return raises;
}

}  // namespace allranks::ir
