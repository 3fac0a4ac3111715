#include "analyzer/objects/two_arms.h"

namespace allranks::objects {

bool AreInTwoArms(const ir::Module& module, const ir::Tree& tree, ir::StmtId a, ir::StmtId b) {
  for (ir::StmtId at = a; at && tree.Parent(at); at = tree.Parent(at)) {
    if (module[tree.Parent(at)].kind != ir::StmtKind::If) continue;
    for (ir::StmtId other = b; other; other = tree.Parent(other)) {
      if (tree.Parent(other) == tree.Parent(at)) return tree.BlockOf(other) != tree.BlockOf(at);
    }
  }
  return false;
}

bool AreInTwoArms(const binding::Program& program, const ProgramIndex& index, const Site& a, const Site& b) {
  const ir::ModuleId module = program.funcs[a.function].module;
  return AreInTwoArms(program.modules[module], index.tree(module), index.StatementOf(a), index.StatementOf(b));
}

}  // namespace allranks::objects
