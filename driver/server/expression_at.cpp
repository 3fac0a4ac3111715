#include "driver/server/expression_at.h"

namespace allranks::server {

ir::ExprId ExpressionAt(const Target& target, uint32_t offset) {
  const ir::Module& module = target.ir();
  ir::ExprId smallest;
  for (uint32_t i = 0; i < module.exprs.size(); ++i) {
    const ir::ExprId id{i};
    const ir::Expr& expr = module[id];
    if (offset < expr.begin || offset > expr.end || expr.begin == expr.end) continue;
    if (!target.snapshot.analysed.facts.value(target.module, id)) continue;
    if (!smallest || expr.end - expr.begin < module[smallest].end - module[smallest].begin) smallest = id;
  }
  if (!smallest) return smallest;
  const ir::ExprId parent = target.workspace.indices().index.tree(target.module).Parent(smallest);
  const bool is_callee = parent && module[parent].kind == ir::ExprKind::Call && ir::CalleeOf(module[parent]) == smallest;
  return is_callee ? parent : smallest;
}

}  // namespace allranks::server
