#include "analyzer/binding/receiver.h"

namespace allranks::binding {

ReceiverKind ReceiverOf(const Program& program, FuncId id) {
  const ir::Function& function = program.function(id);
  if (!function.owner) return ReceiverKind::None;
  if (function.symbol) {
    const bool has_object = !function.params.empty() && program.text(function.params[0].name) == "this";
    return has_object ? ReceiverKind::Instance : ReceiverKind::None;
  }
  for (const ir::ExprId decorator : function.decorators) {
    const std::string_view name = DecoratorName(program, program.funcs[id].module, decorator);
    if (name == "staticmethod") return ReceiverKind::None;
    if (name == "classmethod") return ReceiverKind::Class;
  }
  return ReceiverKind::Instance;
}

std::string_view DecoratorName(const Program& program, ir::ModuleId module_id, ir::ExprId decorator) {
  const ir::Expr& expr = program.modules[module_id][decorator];
  if (expr.kind == ir::ExprKind::Name) return program.text(ir::NameOf(expr));
  if (expr.kind == ir::ExprKind::Attribute) return program.text(ir::AttrOf(expr));
  return {};
}

}  // namespace allranks::binding
