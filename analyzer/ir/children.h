#pragma once

#include "analyzer/ir/program.h"

namespace allranks::ir {

// Calls `visit` for each direct part of an expression, in the order in which they are evaluated; bodies of lambdas and
// the clauses of comprehensions are left out.
template <class Visit>
void ForEachChild(const Module& module, const Expr& expr, Visit visit) {
  switch (expr.kind) {
    case ExprKind::FString:
    case ExprKind::Tuple:
    case ExprKind::List:
    case ExprKind::Set:
    case ExprKind::Slice:
    case ExprKind::Bool:
    case ExprKind::Opaque:
      for (const ExprId item : Items(module, expr)) visit(item);
      break;
    case ExprKind::Attribute:
    case ExprKind::Unary:
    case ExprKind::Await:
    case ExprKind::Yield:
    case ExprKind::YieldFrom:
    case ExprKind::Starred:
    case ExprKind::Comprehension:
      visit(OperandOf(expr));
      break;
    case ExprKind::Subscript:
    case ExprKind::Binary:
      visit(LeftOf(expr));
      visit(RightOf(expr));
      break;
    case ExprKind::Walrus:
      visit(RightOf(expr));
      visit(LeftOf(expr));
      break;
    case ExprKind::Call:
      visit(CalleeOf(expr));
      for (uint32_t i = 0; i < ArgCount(module, expr); ++i) visit(ArgAt(module, expr, i).value);
      break;
    case ExprKind::Compare:
      visit(LeftOf(expr));
      for (uint32_t i = 0; i < ComparisonCount(module, expr); ++i) visit(ComparisonAt(module, expr, i).operand);
      break;
    case ExprKind::Conditional:
      visit(TestOf(expr));
      visit(ThenOf(module, expr));
      visit(ElseOf(module, expr));
      break;
    case ExprKind::Dict:
      for (uint32_t i = 0; i < DictCount(expr); ++i) {
        visit(DictItemAt(module, expr, i).key);
        visit(DictItemAt(module, expr, i).value);
      }
      break;
    case ExprKind::Name:
    case ExprKind::Constant:
    case ExprKind::Lambda:
      break;
  }
}

}  // namespace allranks::ir
