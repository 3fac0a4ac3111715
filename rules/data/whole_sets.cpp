#include "rules/data/whole_sets.h"

#include <algorithm>

namespace allranks::rules {

using objects::KnownCall;
using variation::ValueId;
using variation::ValueKind;

bool WholeSets::IsWhole(ValueId loader) const {
  const bool is_made = context_.facts.values_store[loader].kind == ValueKind::Object && context_.values.MadeWith(loader, "dataset").has_value();
  return is_made && !KnowsRank(loader, "dataset");
}

bool WholeSets::IsInOneOrder(ValueId loader, binding::FuncId user) {
  if (!IsWhole(loader) || KnowsRank(loader, "generator") || IsSeededByRank(loader, user)) return false;
  const ValueId seeds_workers = context_.values.MadeWith(loader, "worker_init_fn");
  return !seeds_workers || context_.values.IsNone(seeds_workers);
}

bool WholeSets::KnowsRank(ValueId loader, std::string_view param) const {
  const ValueId value = context_.values.MadeWith(loader, param);
  return value && context_.values.AnyPart(value, [&](ValueId part) { return IsOfRank(part); });
}

bool WholeSets::IsOfRank(ValueId part) const {
  const variation::Value& value = context_.facts.values_store[part];
  if (value.kind == ValueKind::Coordinate || !value.axes.empty()) return true;
  if (context_.values.IsA(part, "torch.utils.data.IterableDataset")) return true;
  if (value.kind != ValueKind::Instance) return false;
  const auto args = context_.index.MadeWith(value.class_id());
  const bool gets_share = std::ranges::any_of(args, [&](ValueId arg) { return arg && !context_.facts.values_store.axes(arg).empty(); });
  return gets_share || ReadsRank(value.class_id());
}

// A data set of the project whose methods ask for the rank deals itself out.
bool WholeSets::ReadsRank(binding::ClassId class_id) const {
  const auto& mro = context_.program.classes[class_id].mro;
  return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
    const binding::ClassId owner = context_.program.funcs[call.function].owner;
    return owner && std::ranges::find(mro, owner) != mro.end() && call.entry->yield.kind == knowledge::YieldKind::Formula;
  });
}

// `torch.manual_seed(seed + rank)`: each rank shuffles for itself.
bool WholeSets::IsSeededByRank(ValueId loader, binding::FuncId user) {
  if (!context_.values.IsTrue(context_.values.MadeWith(loader, "shuffle"))) return false;
  for (const KnownCall& call : context_.index.known_calls()) {
    if (!calls_.IsOneProgram(context_.program.funcs[user].module, context_.program.funcs[call.function].module)) continue;
    for (const knowledge::RoleOf& role : call.entry->roles) {
      if (role.role != knowledge::Role::Seed) continue;
      const ValueId seed = context_.index.Arg(call, context_.program.text(role.param));
      if (seed && !context_.facts.values_store.axes(seed).empty()) return true;
    }
  }
  return false;
}

}  // namespace allranks::rules
