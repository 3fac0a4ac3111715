#include "analyzer/objects/gradient_mode.h"

#include <algorithm>

namespace allranks::objects {

bool SwitchesGradientsOff(const binding::Program& program, const Values& values, const variation::Facts& facts, ir::ModuleId module_id, ir::ExprId expr) {
  const ir::Module& module = program.modules[module_id];
  const ir::ExprId callee = module[expr].kind == ir::ExprKind::Call ? ir::CalleeOf(module[expr]) : expr;
  const std::string_view name = values.External(facts.value(module_id, callee));
  return name == "torch.no_grad" || name == "torch.inference_mode";
}

bool IsCalledAsWritten(const binding::Program& program, const Values& values, const variation::Facts& facts, FuncId function) {
  return std::ranges::all_of(program.function(function).decorators, [&](ir::ExprId decorator) {
    return SwitchesGradientsOff(program, values, facts, program.funcs[function].module, decorator);
  });
}

bool AreGradientsOff(const binding::Program& program, const Values& values, const variation::Facts& facts, const ProgramIndex& index,
                     const Site& site) {
  const ir::ModuleId module_id = program.funcs[site.function].module;
  const ir::Module& module = program.modules[module_id];
  const auto switches_off = [&](ir::ExprId expr) { return SwitchesGradientsOff(program, values, facts, module_id, expr); };
  if (std::ranges::any_of(program.function(site.function).decorators, switches_off)) return true;
  const ir::Tree& tree = index.tree(module_id);
  for (ir::StmtId at = tree.StatementOf(site.expr); at; at = tree.Parent(at)) {
    if (module[at].kind != ir::StmtKind::With) continue;
    const auto items = ir::WithItemsOf(module, module[at]);
    if (std::ranges::any_of(items, [&](const ir::WithItem& item) { return switches_off(item.context); })) return true;
  }
  return false;
}

}  // namespace allranks::objects
