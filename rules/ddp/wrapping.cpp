#include "rules/ddp/wrapping.h"

#include <algorithm>

namespace allranks::rules {

using variation::ValueId;

std::vector<objects::KnownCall> Wrappings(const Context& context) {
  std::vector<objects::KnownCall> calls;
  for (const objects::KnownCall& call : context.index.known_calls()) {
    if (context.program.text(call.entry->name) == "torch.nn.parallel.DistributedDataParallel.__init__") calls.push_back(call);
  }
  return calls;
}

bool IsWrapped(const Context& context, ValueId value) {
  const std::vector<ValueId> leaves = context.values.Leaves(value);
  return !leaves.empty() && std::ranges::all_of(leaves, [&](ValueId leaf) {
    return context.values.IsA(leaf, "torch.nn.parallel.DistributedDataParallel");
  });
}

bool MayBeWrapped(const Context& context, ValueId value) {
  return std::ranges::any_of(context.values.Leaves(value), [&](ValueId leaf) {
    return context.values.IsA(leaf, "torch.nn.parallel.DistributedDataParallel");
  });
}

bool IsPrepared(const Context& context, ValueId value) {
  const std::vector<ValueId> leaves = context.values.Leaves(value);
  return leaves.size() == 1 && context.values.IsA(leaves[0], "accelerate.Prepared") &&
         context.facts.values_store.Kids(leaves[0]).size() == 1;
}

ValueId InnerOf(const Context& context, ValueId wrapper) {
  const std::vector<ValueId> leaves = context.values.Leaves(wrapper);
  if (IsPrepared(context, wrapper)) return context.facts.values_store.Kids(leaves[0])[0];
  return leaves.size() == 1 ? context.values.MadeWith(leaves[0], "module") : ValueId::None();
}

ir::ExprId AssignedTo(const Context& context, const objects::Site& call) {
  const ir::Module& module = context.program.module_of(call.function);
  const ir::StmtId stmt = context.index.StatementOf(call);
  if (!stmt || module[stmt].kind != ir::StmtKind::Assign || ir::AssignedOf(module[stmt]) != call.expr) return {};
  const ir::ExprList targets = ir::TargetsOf(module, module[stmt]);
  if (targets.size() != 1) return {};
  const ir::ExprKind kind = module[targets[0]].kind;
  return kind == ir::ExprKind::Name || kind == ir::ExprKind::Attribute ? targets[0] : ir::ExprId::None();
}

}  // namespace allranks::rules
