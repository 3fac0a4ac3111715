#include "rules/reductions.h"

namespace allranks::rules {

bool ReducesAttribute(const Context& context, const objects::KnownCall& call, std::string_view attribute) {
  const knowledge::Operation& operation = call.entry->operation;
  if (!call.entry->has_operation || context.program.text(operation.kind) != "all_reduce" || !operation.tensor_param) return false;
  const ir::Module& module = context.program.module_of(call.function);
  ir::ExprId tensor = context.index.ArgExpr(call, context.program.text(operation.tensor_param));
  while (tensor && module[tensor].kind == ir::ExprKind::Attribute) {
    if (context.program.text(ir::AttrOf(module[tensor])) == attribute) return true;
    tensor = ir::ObjectOf(module[tensor]);
  }
  return false;
}

}  // namespace allranks::rules
