#include "analyzer/objects/function_names.h"

#include <algorithm>

namespace allranks::objects {
namespace {

using binding::FuncId;
using binding::Program;

bool IsNamedIn(const Program& program, const ir::Module& module, base::NameId name, bool by_bare_name) {
  return std::ranges::any_of(module.exprs, [&](const ir::Expr& expr) {
    switch (expr.kind) {
      case ir::ExprKind::Name:
        return by_bare_name && ir::NameOf(expr) == name;
      case ir::ExprKind::Attribute:
        return ir::AttrOf(expr) == name;
      case ir::ExprKind::Constant:
        return ir::ConstantKindOf(expr) == ir::ConstantKind::Str && program.text(ir::TextOf(expr)).find(program.text(name)) != std::string_view::npos;
      default:
        return false;
    }
  });
}

// `from train import main as start`, and something is done with it. A package imports for others.
bool IsImportedBy(const Program& program, ir::ModuleId module_id, FuncId function) {
  const ir::Module& module = program.modules[module_id];
  const bool is_package = program.infos[module_id].path.ends_with("__init__.py");
  for (uint32_t i = 0; i < module.imports.size(); ++i) {
    const ir::Import& import = module.imports[ir::ImportId{i}];
    if (import.name != program.function(function).name) continue;
    const binding::Target target = program.ImportTarget(module_id, ir::ImportId{i});
    if (target.kind != binding::TargetKind::Function) return true;
    if (target.function == function && (is_package || IsNamedIn(program, module, import.as_name ? import.as_name : import.name, true))) return true;
  }
  return false;
}

}  // namespace

// In another file the bare name may be that of another function.
bool IsNamed(const Program& program, binding::FuncId function) {
  const base::NameId name = program.function(function).name;
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const binding::Target target = program.Lookup(ir::ModuleId{m}, name);
    const bool is_another = target.kind == binding::TargetKind::Function && target.function != function;
    if (IsImportedBy(program, ir::ModuleId{m}, function) || IsNamedIn(program, program.modules[ir::ModuleId{m}], name, !is_another)) return true;
  }
  return false;
}

}  // namespace allranks::objects
