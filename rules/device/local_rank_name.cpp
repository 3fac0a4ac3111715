#include "rules/device/local_rank_name.h"

#include "rules/finding_parts.h"

namespace allranks::rules {

LocalRankText LocalRankAt(const Context& context, const objects::Site& site) {
  const ir::ModuleId module_id = context.program.funcs[site.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const ir::Tree& tree = context.index.tree(module_id);
  const ir::StmtId here = tree.StatementOf(site.expr);
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::StmtId id{i};
    const ir::Stmt& stmt = module[id];
    if (stmt.kind != ir::StmtKind::Assign || stmt.end > module[site.expr].begin) continue;
    const FuncId function = context.index.FunctionOf(module_id, id);
    // On every way to here: an earlier statement of a block around the place.
    bool is_before = false;
    for (ir::StmtId at = here; at && function == site.function; at = tree.Parent(at)) {
      is_before = is_before || tree.BlockOf(at) == tree.BlockOf(id);
    }
    const ir::ExprList targets = ir::TargetsOf(module, stmt);
    if (!is_before || targets.size() != 1 || module[targets[0]].kind != ir::ExprKind::Name) continue;
    const variation::ValueId value = context.facts.value(module_id, targets[0]);
    const bool is_local = value && variation::IsCoordinate(context.facts.values_store[value], knowledge::Coordinate::LocalRank);
    if (is_local) return {std::string(context.program.text(ir::NameOf(module[targets[0]]))), false};
  }
  return {"int(os.environ[\"LOCAL_RANK\"])", true};
}

}  // namespace allranks::rules
