#include "analyzer/ir/name_slots.h"

namespace allranks::ir {
namespace {

using Visit = std::function<void(uint32_t&)>;

void VisitArgs(Module& module, const Expr& call, const Visit& visit) {
  for (uint32_t i = 0; i < ArgCount(module, call); ++i) visit(module.words[call.b + 2 + 3 * i]);
}

void VisitExpr(Module& module, Expr& expr, const Visit& visit) {
  switch (expr.kind) {
    case ExprKind::Name:
      visit(expr.a);
      if ((expr.flags & kResolvedName) != 0) visit(expr.b);
      break;
    case ExprKind::Constant:
      switch (ConstantKindOf(expr)) {
        case ConstantKind::Float:
        case ConstantKind::Complex:
        case ConstantKind::Str:
        case ConstantKind::Bytes:
          visit(expr.a);
          break;
        default:
          break;
      }
      break;
    case ExprKind::Attribute:
      visit(expr.b);
      break;
    case ExprKind::Call:
      VisitArgs(module, expr, visit);
      break;
    default:
      break;
  }
}

void VisitStmt(Module& module, const Stmt& stmt, const Visit& visit) {
  if (stmt.kind != StmtKind::Global && stmt.kind != StmtKind::Nonlocal) return;
  for (uint32_t i = 0; i < stmt.c; ++i) visit(module.words[stmt.a + i]);
}

}  // namespace

void ForEachName(Module& module, const Visit& visit) {
  for (Expr& expr : module.exprs) VisitExpr(module, expr, visit);
  for (const Stmt& stmt : module.stmts) VisitStmt(module, stmt, visit);
  for (Function& function : module.functions) {
    visit(function.name.index);
    visit(function.symbol.index);
    visit(function.qualified.index);
    for (Param& param : function.params) visit(param.name.index);
  }
  for (Class& defined : module.classes) {
    visit(defined.name.index);
    visit(defined.symbol.index);
    for (Arg& base : defined.bases) visit(base.keyword.index);
  }
  for (Import& import : module.imports) {
    visit(import.module.index);
    visit(import.name.index);
    visit(import.as_name.index);
  }
  for (Handler& handler : module.handlers) visit(handler.name.index);
}

}  // namespace allranks::ir
