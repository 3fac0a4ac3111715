#include "driver/server/expression_at.h"

namespace allranks::server {

ir::ExprId ExpressionAt(const Target& target, uint32_t offset) {
  const ir::Module& module = target.ir();
  const ir::Tree& tree = target.workspace.indices().index.tree(target.module);
  ir::ExprId smallest;
  // Of `rank_` in C++, which is a member of an object that is not written, the member is meant.
  const auto is_smaller = [&](ir::ExprId id) {
    const uint32_t size = module[id].end - module[id].begin;
    const uint32_t least = module[smallest].end - module[smallest].begin;
    return size < least || (size == least && tree.Parent(smallest) == id);
  };
  for (uint32_t i = 0; i < module.exprs.size(); ++i) {
    const ir::ExprId id{i};
    const ir::Expr& expr = module[id];
    if (offset < expr.begin || offset > expr.end || expr.begin == expr.end) continue;
    if (!target.snapshot.analysed.facts.value(target.module, id)) continue;
    if (!smallest || is_smaller(id)) smallest = id;
  }
  if (!smallest) return smallest;
  const ir::ExprId parent = tree.Parent(smallest);
  const bool is_callee = parent && module[parent].kind == ir::ExprKind::Call && ir::CalleeOf(module[parent]) == smallest;
  return is_callee ? parent : smallest;
}

}  // namespace allranks::server
