#include "analyzer/objects/held_objects.h"

#include "analyzer/ir/bindings.h"
#include "analyzer/ir/walk.h"

namespace allranks::objects {
namespace {

// The one statement that binds a name in a function; none if there are several.
ir::StmtId OnlyBinding(const binding::Program& program, const ProgramIndex& index, FuncId function, base::NameId name) {
  const ir::ModuleId module_id = program.funcs[function].module;
  const ir::Module& module = program.modules[module_id];
  ir::StmtId only;
  bool is_again = false;
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::StmtId id{i};
    if (index.FunctionOf(module_id, id) != function) continue;
    ir::ForEachBinding(module, module[id], [&](const ir::Binding& binding) {
      if (binding.name != name) return;
      is_again = is_again || only;
      only = id;
    });
  }
  return is_again ? ir::StmtId::None() : only;
}

void AddHeld(const binding::Program& program, const ProgramIndex& index, FuncId function, ir::ExprId container, const FlowFrom& flow, int depth,
             std::set<base::NameId>& held) {
  constexpr int kDeepest = 3;
  const ir::Module& module = program.module_of(function);
  if (depth == kDeepest || module[container].kind != ir::ExprKind::Name) return;
  const ir::StmtId made = OnlyBinding(program, index, function, ir::NameOf(module[container]));
  if (!made || module[made].kind != ir::StmtKind::Assign) return;
  const ir::ExprId value = ir::AssignedOf(module[made]);
  const ir::ExprKind kind = module[value].kind;
  if (kind != ir::ExprKind::List && kind != ir::ExprKind::Tuple && kind != ir::ExprKind::Dict && kind != ir::ExprKind::Comprehension) return;
  ir::AnyPart(module, value, [&](ir::ExprId part) {
    if (module[part].kind != ir::ExprKind::Name) return false;
    const base::NameId name = ir::NameOf(module[part]);
    if (flow.IsEverIn(name) && OnlyBinding(program, index, function, name)) held.insert(name);
    AddHeld(program, index, function, part, flow, depth + 1, held);
    return false;
  });
}

}  // namespace

std::set<base::NameId> ObjectsHeld(const binding::Program& program, const ProgramIndex& index, FuncId function, ir::ExprId container,
                                   const FlowFrom& flow) {
  std::set<base::NameId> held;
  AddHeld(program, index, function, container, flow, 0, held);
  return held;
}

}  // namespace allranks::objects
