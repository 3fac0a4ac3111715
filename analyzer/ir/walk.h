// The direct children of nodes, for code that walks the tree without handling every kind. Depth is bounded (kMaxDepth).
#pragma once

#include <algorithm>
#include <span>

#include "analyzer/ir/program.h"

namespace allranks::ir {

// Each expression that is a direct part of `id`, in the order of evaluation. Not into the body of a lambda.
template <class Visit>
void ForEachPart(const Module& module, ExprId id, Visit visit) {
  const Expr& expr = module[id];
  const auto maybe = [&](ExprId part) {
    if (part) visit(part);
  };
  switch (expr.kind) {
    case ExprKind::Name:
    case ExprKind::Constant:
    case ExprKind::Lambda:
      break;
    case ExprKind::FString:
    case ExprKind::Tuple:
    case ExprKind::List:
    case ExprKind::Set:
    case ExprKind::Slice:
    case ExprKind::Bool:
    case ExprKind::Opaque:
      for (const ExprId item : Items(module, expr)) maybe(item);
      break;
    case ExprKind::Attribute:
    case ExprKind::Unary:
    case ExprKind::Await:
    case ExprKind::Yield:
    case ExprKind::YieldFrom:
    case ExprKind::Starred:
      maybe(OperandOf(expr));
      break;
    case ExprKind::Subscript:
    case ExprKind::Binary:
      maybe(LeftOf(expr));
      maybe(RightOf(expr));
      break;
    case ExprKind::Walrus:
      maybe(RightOf(expr));
      maybe(LeftOf(expr));
      break;
    case ExprKind::Call:
      maybe(CalleeOf(expr));
      for (uint32_t i = 0; i < ArgCount(module, expr); ++i) maybe(ArgAt(module, expr, i).value);
      break;
    case ExprKind::Compare:
      maybe(CalleeOf(expr));
      for (uint32_t i = 0; i < ComparisonCount(module, expr); ++i) maybe(ComparisonAt(module, expr, i).operand);
      break;
    case ExprKind::Conditional:
      maybe(TestOf(expr));
      maybe(ThenOf(module, expr));
      maybe(ElseOf(module, expr));
      break;
    case ExprKind::Dict:
      for (uint32_t i = 0; i < DictCount(expr); ++i) {
        maybe(DictItemAt(module, expr, i).key);
        maybe(DictItemAt(module, expr, i).value);
      }
      break;
    case ExprKind::Comprehension:
      for (const Clause& clause : ClausesOf(module, expr)) {
        maybe(clause.iter);
        maybe(clause.target);
        for (const ExprId condition : Exprs(module, clause.conditions)) maybe(condition);
      }
      maybe(OperandOf(expr));
      break;
  }
}

// Whether `is_so` of an expression or of a part of it, however deep. Not into the body of a lambda.
template <class IsSo>
bool AnyPart(const Module& module, ExprId id, const IsSo& is_so) {
  if (is_so(id)) return true;
  bool is_any = false;
  ForEachPart(module, id, [&](ExprId part) { is_any = is_any || AnyPart(module, part, is_so); });
  return is_any;
}

// Whether one of these variables stands in it.
inline bool Mentions(const Module& module, ExprId id, std::span<const base::NameId> names) {
  return AnyPart(module, id, [&](ExprId part) {
    return module[part].kind == ExprKind::Name && std::ranges::count(names, NameOf(module[part])) > 0;
  });
}

inline bool Mentions(const Module& module, ExprId id, base::NameId name) { return Mentions(module, id, std::span(&name, 1)); }

// Each expression that stands directly in a statement, its blocks left out.
template <class Visit>
void ForEachExpr(const Module& module, const Stmt& stmt, Visit visit) {
  const auto maybe = [&](ExprId part) {
    if (part) visit(part);
  };
  switch (stmt.kind) {
    case StmtKind::Expr:
    case StmtKind::Return:
    case StmtKind::If:
    case StmtKind::While:
    case StmtKind::Match:
      maybe(ValueOf(stmt));
      break;
    case StmtKind::Raise:
    case StmtKind::Assert:
    case StmtKind::AugAssign:
    case StmtKind::For:
      maybe(AssignedOf(stmt));
      maybe(ValueOf(stmt));
      break;
    case StmtKind::Assign:
      maybe(AssignedOf(stmt));
      for (const ExprId target : TargetsOf(module, stmt)) maybe(target);
      break;
    case StmtKind::AnnAssign:
      maybe(AssignedOf(stmt));
      maybe(ValueOf(stmt));
      maybe(ExprId{stmt.c});
      break;
    case StmtKind::Delete:
    case StmtKind::Opaque:
      for (const ExprId target : TargetsOf(module, stmt)) maybe(target);
      break;
    case StmtKind::With:
      for (const WithItem& item : WithItemsOf(module, stmt)) {
        maybe(item.context);
        maybe(item.target);
      }
      break;
    case StmtKind::Try:
      for (const Handler& handler : HandlersOf(module, stmt)) maybe(handler.type);
      break;
    default:
      break;
  }
  if (stmt.kind != StmtKind::Match) return;
  for (const MatchCase& match_case : CasesOf(module, stmt)) {
    maybe(match_case.pattern);
    maybe(match_case.guard);
  }
}

// Each block that belongs to a statement, in the order of the source. Not those of functions and classes.
template <class Visit>
void ForEachBlock(const Module& module, const Stmt& stmt, Visit visit) {
  const auto maybe = [&](BlockId block) {
    if (block) visit(block);
  };
  switch (stmt.kind) {
    case StmtKind::If:
    case StmtKind::For:
    case StmtKind::While:
      maybe(BodyOf(stmt));
      maybe(ElseBlockOf(stmt));
      break;
    case StmtKind::With:
      maybe(BodyOf(stmt));
      break;
    case StmtKind::Try:
      maybe(TriedOf(stmt));
      for (const Handler& handler : HandlersOf(module, stmt)) maybe(handler.body);
      maybe(TryElseOf(stmt));
      maybe(FinallyOf(stmt));
      break;
    case StmtKind::Match:
      for (const MatchCase& match_case : CasesOf(module, stmt)) maybe(match_case.body);
      break;
    default:
      break;
  }
}

}  // namespace allranks::ir
