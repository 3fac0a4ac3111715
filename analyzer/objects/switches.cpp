#include "analyzer/objects/switches.h"

namespace allranks::objects {

bool IsSwitchedOff(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Site& site) {
  const ir::ModuleId module_id = program.funcs[site.function].module;
  const ir::Module& module = program.modules[module_id];
  const ir::Tree& tree = index.tree(module_id);
  ir::BlockId from;
  for (ir::StmtId at = tree.StatementOf(site.expr); at; at = tree.Parent(at)) {
    const bool is_branch = from && module[at].kind == ir::StmtKind::If;
    const ValueId test = is_branch ? facts.value(module_id, ir::ValueOf(module[at])) : ValueId::None();
    const bool is_else = is_branch && from == ir::ElseBlockOf(module[at]);
    if (test && test == (is_else ? facts.values_store.True() : facts.values_store.False())) return true;
    from = tree.BlockOf(at);
  }
  return false;
}

}  // namespace allranks::objects
