#include "analyzer/ir/attribute_uses.h"

#include <algorithm>
#include <string_view>

namespace allranks::ir {
namespace {

constexpr std::string_view kOfMappings[] = {"items", "keys", "values"};

// The attributes among the targets of an assignment.
void NoteTarget(const Module& module, ExprId target, std::unordered_set<NameId>& stored) {
  const Expr& expr = module[target];
  if (expr.kind == ExprKind::Attribute) stored.insert(AttrOf(expr));
  if (expr.kind != ExprKind::Tuple && expr.kind != ExprKind::List) return;
  for (const ExprId item : Items(module, expr)) NoteTarget(module, item, stored);
}

void NoteAssignment(const Module& module, const Stmt& stmt, std::unordered_set<NameId>& stored) {
  if (stmt.kind == StmtKind::AugAssign || stmt.kind == StmtKind::AnnAssign) NoteTarget(module, ValueOf(stmt), stored);
  if (stmt.kind != StmtKind::Assign) return;
  for (const ExprId target : TargetsOf(module, stmt)) NoteTarget(module, target, stored);
}

}  // namespace

AttributeUses AttributeUsesIn(const Module& module, const base::Interner& names) {
  AttributeUses uses;
  for (const Stmt& stmt : module.stmts) NoteAssignment(module, stmt, uses.stored);
  for (const Expr& expr : module.exprs) {
    if (expr.kind == ExprKind::Name && names.View(NameOf(expr)) == "setattr") uses.stores_by_text = true;
    if (expr.kind != ExprKind::Attribute || std::ranges::count(kOfMappings, names.View(AttrOf(expr))) == 0) continue;
    const Expr& object = module[ObjectOf(expr)];
    if (object.kind == ExprKind::Name) uses.mappings.emplace_back(NameOf(object), expr.begin);
  }
  return uses;
}

}  // namespace allranks::ir
