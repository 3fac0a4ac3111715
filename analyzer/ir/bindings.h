// Which names a statement binds in its scope. This is the only place that knows: the scopes of functions, the table of
// a module's names and the variables that a loop changes all ask here.
#pragma once

#include <string_view>

#include "analyzer/base/interner.h"
#include "analyzer/ir/walk.h"

namespace allranks::ir {

// Each statement of a block and of the blocks inside, in the order of the source. Not those of functions and classes.
template <class Visit>
void ForEachStmtIn(const Module& module, BlockId block, Visit visit) {
  for (const StmtId id : module.statements(block)) {
    visit(module[id]);
    ForEachBlock(module, module[id], [&](BlockId inner) { ForEachStmtIn(module, inner, visit); });
  }
}

// A name that a statement binds in the scope it stands in, and what it binds it to: an import, a function, a class, or
// a value that is assigned. `del` binds as well: it makes a name one of the scope.
struct Binding {
  NameId name;       // none of an import: see BoundName
  ImportId import;
  FunctionId function;
  ClassId class_id;
  bool in_expression = false;  // a walrus or the capture of a pattern
};

// `import a.b` binds a.
inline NameId BoundName(const Import& import, base::Interner& names) {
  if (import.as_name) return import.as_name;
  if (import.name) return import.name;
  const std::string_view dotted = names.View(import.module);
  return names.Intern(dotted.substr(0, dotted.find('.')));
}

// The names in an assignment target. Not those that the front end resolved, which are no local variables.
template <class Visit>
void ForEachTargetName(const Module& module, ExprId target, Visit visit) {
  if (!target) return;
  const Expr& expr = module[target];
  switch (expr.kind) {
    case ExprKind::Name:
      if ((expr.flags & kResolvedName) == 0) visit(NameOf(expr));
      break;
    case ExprKind::Tuple:
    case ExprKind::List:
      for (const ExprId item : Items(module, expr)) ForEachTargetName(module, item, visit);
      break;
    case ExprKind::Starred:
      ForEachTargetName(module, OperandOf(expr), visit);
      break;
    default:
      break;
  }
}

// The names that an expression binds: walruses and captures of patterns, those inside comprehensions included, which
// bind in the function around. The variables of comprehensions themselves are their own.
template <class Visit>
void ForEachBoundInside(const Module& module, ExprId id, Visit visit) {
  const Expr& expr = module[id];
  if (expr.kind == ExprKind::Walrus) ForEachTargetName(module, LeftOf(expr), visit);
  ForEachPart(module, id, [&](ExprId part) { ForEachBoundInside(module, part, visit); });
}

// Each Binding of one statement, those of the statements in its blocks left out. The one place that knows which names
// a statement binds.
template <class Visit>
void ForEachBinding(const Module& module, const Stmt& stmt, Visit visit) {
  const auto bind = [&](NameId name) {
    if (name) visit(Binding{.name = name, .import = {}, .function = {}, .class_id = {}});
  };
  const auto bind_target = [&](ExprId target) { ForEachTargetName(module, target, bind); };
  switch (stmt.kind) {
    case StmtKind::Assign:
    case StmtKind::Delete:
      for (const ExprId target : TargetsOf(module, stmt)) bind_target(target);
      break;
    case StmtKind::AugAssign:
    case StmtKind::AnnAssign:
    case StmtKind::For:
      bind_target(ValueOf(stmt));
      break;
    case StmtKind::With:
      for (const WithItem& item : WithItemsOf(module, stmt)) bind_target(item.target);
      break;
    case StmtKind::Try:
      for (const Handler& handler : HandlersOf(module, stmt)) bind(handler.name);
      break;
    case StmtKind::Import:
      for (uint32_t i = 0; i < stmt.c; ++i) {
        const ImportId import{stmt.a + i};
        if (module.imports[import].star) continue;
        visit(Binding{.name = {}, .import = import, .function = {}, .class_id = {}});
      }
      break;
    case StmtKind::FunctionDef:
      visit(Binding{.name = module.functions[FunctionOf(stmt)].name, .import = {}, .function = FunctionOf(stmt),
                    .class_id = {}});
      break;
    case StmtKind::ClassDef:
      visit(Binding{.name = module.classes[ClassOf(stmt)].name, .import = {}, .function = {},
                    .class_id = ClassOf(stmt)});
      break;
    default:
      break;
  }
  const auto bind_inside = [&](NameId name) {
    visit(Binding{.name = name, .import = {}, .function = {}, .class_id = {}, .in_expression = true});
  };
  ForEachExpr(module, stmt, [&](ExprId expr) { ForEachBoundInside(module, expr, bind_inside); });
}

// Each Binding of the statements of a block and of the blocks inside. Not inside functions and classes.
template <class Visit>
void ForEachBindingIn(const Module& module, BlockId block, Visit visit) {
  ForEachStmtIn(module, block, [&](const Stmt& stmt) { ForEachBinding(module, stmt, visit); });
}

}  // namespace allranks::ir
