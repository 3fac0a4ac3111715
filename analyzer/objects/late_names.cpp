#include "analyzer/objects/late_names.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "analyzer/ir/bindings.h"

namespace allranks::objects {
namespace {

// `a`, and each part of `a, *b`, where they are assigned.
bool IsPartOfTarget(const ir::Module& module, ir::ExprId target, ir::ExprId name) {
  if (!target || target == name) return target == name;
  const ir::Expr& expr = module[target];
  if (expr.kind == ir::ExprKind::Starred) return IsPartOfTarget(module, ir::OperandOf(expr), name);
  if (expr.kind != ir::ExprKind::Tuple && expr.kind != ir::ExprKind::List) return false;
  bool is_part = false;
  for (const ir::ExprId item : ir::Items(module, expr)) is_part = is_part || IsPartOfTarget(module, item, name);
  return is_part;
}

// The statement puts something into the name, and does not read it. (`count += 1` does.)
bool IsBoundBy(const ir::Module& module, const ir::Stmt& stmt, ir::ExprId name) {
  bool is_bound = false;
  if (stmt.kind == ir::StmtKind::Assign) {
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) is_bound = is_bound || IsPartOfTarget(module, target, name);
  } else if (stmt.kind == ir::StmtKind::For) {
    is_bound = IsPartOfTarget(module, ir::ValueOf(stmt), name);
  } else if (stmt.kind == ir::StmtKind::With) {
    for (const ir::WithItem& item : ir::WithItemsOf(module, stmt)) is_bound = is_bound || IsPartOfTarget(module, item.target, name);
  }
  return is_bound;
}

}  // namespace

bool LateNames::IsReadBy(FuncId function, ir::StmtId stmt, ir::ExprId id) const {
  const ir::Module& module = program_.module_of(function);
  const auto found = BoundIn(function).find(ir::NameOf(module[id]));
  if (found == BoundIn(function).end() || IsBoundBy(module, module[stmt], id)) return false;
  const auto is_behind = [&](ir::StmtId each) {
    // `count = count + 1` reads first; what `with` binds may be read by its next item.
    return each == stmt ? module[each].kind != ir::StmtKind::With : module[each].begin > module[stmt].begin;
  };
  return std::ranges::all_of(found->second, is_behind) && ComesFirstInLoops(function, stmt, found->second);
}

// In the first round of each loop around it that binds the name, too.
bool LateNames::ComesFirstInLoops(FuncId function, ir::StmtId stmt, std::span<const ir::StmtId> bound) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  return std::ranges::all_of(index_.LoopsAround(module_id, stmt), [&](ir::StmtId loop) {
    const bool binds = std::ranges::any_of(bound, [&](ir::StmtId each) { return each != loop && tree.Holds(loop, each); });
    return !binds || tree.BlockOf(stmt) == ir::BodyOf(module[loop]);
  });
}

const LateNames::Bound& LateNames::BoundIn(FuncId function) const {
  const auto [known, is_new] = scopes_.try_emplace(function.index);
  if (is_new) known->second = Read(function);
  return known->second;
}

LateNames::Bound LateNames::Read(FuncId function) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Function& info = program_.function(function);
  Bound bound;
  std::unordered_set<base::NameId> others = DeclaredIn(module_id);
  for (const ir::Param& param : info.params) others.insert(param.name);
  const auto add = [&](auto&& self, ir::BlockId block) -> void {
    for (const ir::StmtId id : module.statements(block)) {
      if (index_.FunctionOf(module_id, id) != function) return;
      ir::ForEachBlock(module, module[id], [&](ir::BlockId inner) { self(self, inner); });
      // The names of a class are no others'.
      if (index_.tree(module_id).IsInClass(id)) continue;
      ir::ForEachBinding(module, module[id], [&](const ir::Binding& binding) {
        const base::NameId name = binding.import ? ir::BoundName(module.imports[binding.import], *program_.names) : binding.name;
        if (binding.in_expression) others.insert(name);
        else bound[name].push_back(id);
      });
    }
  };
  if (info.body) add(add, info.body);
  for (const base::NameId name : others) bound.erase(name);
  return bound;
}

const std::unordered_set<base::NameId>& LateNames::DeclaredIn(ir::ModuleId module_id) const {
  const auto [known, is_new] = declared_.try_emplace(module_id.index);
  if (!is_new) return known->second;
  const ir::Module& module = program_.modules[module_id];
  for (const ir::Stmt& stmt : module.stmts) {
    if (stmt.kind != ir::StmtKind::Global && stmt.kind != ir::StmtKind::Nonlocal) continue;
    for (const uint32_t name : ir::NamesOf(module, stmt)) known->second.insert(base::NameId{name});
  }
  return known->second;
}

}  // namespace allranks::objects
