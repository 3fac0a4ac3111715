#include "analyzer/objects/parameter_changes.h"

#include <string_view>

#include "analyzer/ir/bindings.h"

namespace allranks::objects {

// `model` of `model.module.head.weight` and of `model.layers[0]`.
base::NameId ParameterChanges::RootOf(const ir::Module& module, ir::ExprId chain) const {
  ir::ExprId at = chain;
  while (at && (module[at].kind == ir::ExprKind::Attribute || module[at].kind == ir::ExprKind::Subscript)) at = ir::ObjectOf(module[at]);
  return at && module[at].kind == ir::ExprKind::Name ? ir::NameOf(module[at]) : base::NameId::None();
}

// The model whose parameters a loop around a statement goes over, of which one is in the variable.
base::NameId ParameterChanges::ModelOfLoop(ir::ModuleId module_id, ir::StmtId inside, base::NameId variable) const {
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  for (ir::StmtId at = tree.Parent(inside); at; at = tree.Parent(at)) {
    if (module[at].kind != ir::StmtKind::For) continue;
    bool binds = false;
    ir::ForEachTargetName(module, ir::ValueOf(module[at]), [&](base::NameId name) { binds = binds || name == variable; });
    const ir::ExprId iterable = ir::AssignedOf(module[at]);
    if (!binds || module[iterable].kind != ir::ExprKind::Call) continue;
    const ir::Expr& callee = module[ir::CalleeOf(module[iterable])];
    const std::string_view method = callee.kind == ir::ExprKind::Attribute ? program_.text(ir::AttrOf(callee)) : std::string_view();
    return method == "parameters" || method == "named_parameters" ? RootOf(module, ir::ObjectOf(callee)) : base::NameId::None();
  }
  return {};
}

// A test stands between the statement and the loop around it.
bool ParameterChanges::IsOfSome(ir::ModuleId module_id, ir::StmtId change) const {
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  bool is_asked = false;
  for (ir::StmtId at = tree.Parent(change); at; at = tree.Parent(at)) {
    if (module[at].kind == ir::StmtKind::For) return is_asked;
    is_asked = is_asked || module[at].kind == ir::StmtKind::If;
  }
  return false;
}

ir::StmtId ParameterChanges::In(FuncId function, uint32_t param, bool of_some, int depth) const {
  constexpr int kDeepestHelper = 3;
  const auto& params = program_.function(function).params;
  if (depth > kDeepestHelper || param >= params.size()) return {};
  const base::NameId model = params[param].name;
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::StmtId id{i};
    const ir::Stmt& stmt = module[id];
    if (index_.FunctionOf(module_id, id) != function) continue;
    const auto is_of_model = [&](ir::ExprId chain) {
      const base::NameId root = RootOf(module, chain);
      return root && (root == model || ModelOfLoop(module_id, id, root) == model);
    };
    const bool counts = !of_some || IsOfSome(module_id, id);
    if (stmt.kind == ir::StmtKind::Assign) {
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
        const bool sets = module[target].kind == ir::ExprKind::Attribute && program_.text(ir::AttrOf(module[target])) == "requires_grad";
        if (sets && counts && is_of_model(ir::ObjectOf(module[target]))) return id;
      }
    }
    const bool may_call = stmt.kind == ir::StmtKind::Expr || (of_some && stmt.kind == ir::StmtKind::Assign);
    const ir::ExprId call = !may_call ? ir::ExprId::None() : stmt.kind == ir::StmtKind::Expr ? ir::ValueOf(stmt) : ir::AssignedOf(stmt);
    if (!call || module[call].kind != ir::ExprKind::Call) continue;
    const ir::Expr& callee = module[ir::CalleeOf(module[call])];
    const bool sets = callee.kind == ir::ExprKind::Attribute && program_.text(ir::AttrOf(callee)) == "requires_grad_";
    if ((sets && counts && is_of_model(ir::ObjectOf(callee))) || HandsOn(function, call, model, of_some, depth)) return id;
  }
  return {};
}

// The model, or a part of it, is handed to a function that does it.
bool ParameterChanges::HandsOn(FuncId function, ir::ExprId call, base::NameId model, bool of_some, int depth) const {
  const variation::CallFact* fact = facts_.call(function, call);
  const ir::Module& module = program_.module_of(function);
  if (fact == nullptr || fact->kind != variation::CallKind::Function || program_.funcs[fact->function].owner) return false;
  for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
    const ir::Arg arg = ir::ArgAt(module, module[call], i);
    if (arg.kind == ir::ArgKind::Positional && RootOf(module, arg.value) == model && In(fact->function, i, of_some, depth + 1)) return true;
  }
  return false;
}

}  // namespace allranks::objects
