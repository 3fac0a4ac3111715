#include "rules/wrapping.h"

#include <algorithm>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/wrapped_members.h"

namespace allranks::rules {

using variation::ValueId;

std::vector<objects::KnownCall> Wrappings(const Context& context) {
  std::vector<objects::KnownCall> calls;
  for (const objects::KnownCall& call : context.index.known_calls()) {
    if (context.program.text(call.entry->name) == "torch.nn.parallel.DistributedDataParallel.__init__") calls.push_back(call);
  }
  return calls;
}

bool IsEvaluatedOnly(const Context& context, const objects::Site& wrapping) {
  std::vector<variation::FuncId> functions;
  for (const objects::Site& site : context.index.WaysTo(wrapping)) functions.push_back(site.function);
  const auto is_on_way = [&](variation::FuncId function) { return std::ranges::count(functions, function) > 0; };
  const bool trains = std::ranges::any_of(functions, [&](variation::FuncId function) { return context.training.Trains(function); });
  return !trains && std::ranges::any_of(context.index.known_calls(), [&](const objects::KnownCall& call) {
    if (!call.entry->Has(knowledge::Role::SetEvaluation)) return false;
    const std::vector<objects::Site> ways = context.index.WaysTo({call.function, call.expr});
    return std::ranges::any_of(ways, [&](const objects::Site& site) { return is_on_way(site.function); });
  });
}

bool IsWrapped(const Context& context, ValueId value) {
  return objects::WrappedMembers(context.program, context.knowledge, context.facts).IsWrapped(value);
}

bool MayBeWrapped(const Context& context, ValueId value) {
  return std::ranges::any_of(context.values.Leaves(value), [&](ValueId leaf) {
    return context.values.IsA(leaf, "torch.nn.parallel.DistributedDataParallel");
  });
}

bool HasStaticGraph(const Context& context, const objects::KnownCall& wrapping) {
  const ValueId option = context.index.Arg(wrapping, "static_graph");
  if (option && context.values.IsTrue(option)) return true;
  return std::ranges::any_of(context.index.known_calls(), [&](const objects::KnownCall& call) {
    return call.entry->Has(knowledge::Role::SetsStaticGraph) && MayBeMadeBy(context, wrapping, call.function, call.receiver);
  });
}

bool MayBeMadeBy(const Context& context, const objects::KnownCall& wrapping, variation::FuncId function, ValueId value) {
  const ValueId made = context.facts.value(context.program.funcs[wrapping.function].module, wrapping.expr);
  const bool may_be = made && value && std::ranges::any_of(context.values.Leaves(value), [&](ValueId leaf) {
    return context.values.IsA(leaf, "torch.nn.parallel.DistributedDataParallel") && context.values.MayBeSame(leaf, made);
  });
  if (!may_be) return false;
  const std::vector<binding::ModuleId> files = binding::Neighbourhood(context.program).Of(context.program.funcs[wrapping.function].module);
  return std::ranges::count(files, context.program.funcs[function].module) > 0;
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
