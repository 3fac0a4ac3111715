#include "analyzer/objects/definitions.h"

#include <algorithm>

#include "analyzer/ir/bindings.h"
#include "analyzer/objects/two_arms.h"

namespace allranks::objects {

bool Definitions::IsSelf(const Site& place) const {
  const ir::Module& module = program_.module_of(place.function);
  const auto& params = program_.function(place.function).params;
  return program_.funcs[place.function].owner && !params.empty() && module[place.expr].kind == ir::ExprKind::Name &&
         ir::NameOf(module[place.expr]) == params[0].name;
}

std::vector<Definition> Definitions::To(FuncId function, ir::ExprId target, FuncId of) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Expr& wanted = program_.module_of(of)[target];
  const auto is_it = [&](ir::ExprId each) {
    if (module[each].kind != wanted.kind) return false;
    if (wanted.kind == ir::ExprKind::Name) return ir::NameOf(module[each]) == ir::NameOf(wanted);
    return wanted.kind == ir::ExprKind::Attribute && ir::AttrOf(module[each]) == ir::AttrOf(wanted) && IsSelf({function, ir::ObjectOf(module[each])});
  };
  std::vector<Definition> found;
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::StmtId id{i};
    const ir::Stmt& stmt = module[id];
    if (index_.FunctionOf(module_id, id) != function) continue;
    if (stmt.kind == ir::StmtKind::Assign) {
      for (const ir::ExprId each : ir::TargetsOf(module, stmt)) {
        if (is_it(each)) found.push_back({id, ir::AssignedOf(stmt)});
        if (module[each].kind != ir::ExprKind::Tuple) continue;
        const ir::ExprList items = ir::Items(module, module[each]);
        for (uint32_t item = 0; item < items.size(); ++item) {
          if (is_it(items[item])) found.push_back({id, ir::AssignedOf(stmt), item});
        }
      }
    } else if (stmt.kind == ir::StmtKind::AnnAssign && is_it(ir::ValueOf(stmt))) {
      if (ir::AssignedOf(stmt)) found.push_back({id, ir::AssignedOf(stmt)});
    } else if (wanted.kind == ir::ExprKind::Name) {
      ir::ForEachBinding(module, stmt, [&](const ir::Binding& binding) {
        if (binding.name == ir::NameOf(wanted)) found.push_back({id, ir::ExprId::None()});
      });
    }
  }
  std::ranges::sort(found, {}, [&](const Definition& each) { return module[each.stmt].begin; });
  return found;
}

std::vector<Definition> Definitions::Reaching(const Site& place, std::vector<Definition> assigned, bool& is_set_before) const {
  const ir::ModuleId module_id = program_.funcs[place.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  const ir::StmtId use = tree.StatementOf(place.expr);
  std::vector<Definition> reaching;
  if (!use) return assigned;
  const auto holds = [&](ir::StmtId inner) {
    for (ir::StmtId at = use; at; at = tree.Parent(at)) {
      if (tree.BlockOf(at) == tree.BlockOf(inner)) return true;
    }
    return false;
  };
  const std::vector<ir::StmtId> loops = index_.LoopsAround(module_id, use);
  ir::StmtId last_sure;
  for (const Definition& each : assigned) {
    if (module[each.stmt].begin >= module[use].begin) continue;
    if (tree.Holds(each.stmt, use) || AreInTwoArms(module, tree, each.stmt, use)) {
      if (tree.Holds(each.stmt, use)) reaching.push_back(each);
      continue;
    }
    if (holds(each.stmt)) {
      reaching.clear();
      last_sure = each.stmt;
    }
    reaching.push_back(each);
  }
  for (const Definition& each : assigned) {
    if (module[each.stmt].begin < module[use].begin) continue;
    const bool comes_again = std::ranges::any_of(loops, [&](ir::StmtId loop) {
      return tree.Holds(loop, each.stmt) && !(last_sure && tree.Holds(loop, last_sure));
    });
    if (comes_again) reaching.push_back(each);
  }
  is_set_before = bool(last_sure);
  return reaching;
}

base::NameId FieldOfSelf(const binding::Program& program, const Site& place) {
  const ir::Module& module = program.module_of(place.function);
  if (module[place.expr].kind != ir::ExprKind::Attribute) return {};
  const ir::Expr& object = module[ir::ObjectOf(module[place.expr])];
  const auto& params = program.function(place.function).params;
  const bool is_own = object.kind == ir::ExprKind::Name && !params.empty() && ir::NameOf(object) == params[0].name;
  return is_own ? ir::AttrOf(module[place.expr]) : base::NameId();
}

}  // namespace allranks::objects
