#include "analyzer/objects/main_guard.h"

#include <algorithm>

#include "analyzer/ir/walk.h"

namespace allranks::objects {

bool AsksForMain(const base::Interner& names, const ir::Module& module, ir::ExprId test) {
  if (module[test].kind != ir::ExprKind::Compare) return false;
  bool found = false;
  ir::ForEachPart(module, test, [&](ir::ExprId part) {
    found = found || (module[part].kind == ir::ExprKind::Name && names.View(ir::NameOf(module[part])) == "__name__");
  });
  return found;
}

ir::StmtId MainOf(const binding::Program& program, ir::ModuleId module_id) {
  const ir::Module& module = program.modules[module_id];
  for (const ir::StmtId id : module.statements(module.functions[ir::kTopLevel].body)) {
    if (module[id].kind == ir::StmtKind::If && AsksForMain(*program.names, module, ir::ValueOf(module[id]))) return id;
  }
  return ir::StmtId::None();
}

bool IsStartedByHand(const binding::Program& program, const binding::Neighbourhood& neighbourhood, ir::ModuleId module_id) {
  if (program.infos[module_id].path.ends_with(".ipynb") || MainOf(program, module_id)) return true;
  if (!neighbourhood.ImportersOf(module_id).empty()) return false;
  const ir::Module& module = program.modules[module_id];
  return std::ranges::any_of(module.statements(module.functions[ir::kTopLevel].body), [&](ir::StmtId id) {
    const ir::StmtKind kind = module[id].kind;
    const bool calls = kind == ir::StmtKind::Expr && module[ir::ValueOf(module[id])].kind == ir::ExprKind::Call;
    return calls || kind == ir::StmtKind::For || kind == ir::StmtKind::While || kind == ir::StmtKind::With;
  });
}

}  // namespace allranks::objects
