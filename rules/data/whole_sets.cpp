#include "rules/data/whole_sets.h"

#include <algorithm>

namespace allranks::rules {

using objects::KnownCall;
using variation::ValueId;
using variation::ValueKind;

bool WholeSets::IsOfPlainOrder(ValueId loader) const {
  const auto is_given = [&](ValueId sampler, std::string_view param) {
    const ValueId value = context_.values.MadeWith(sampler, param);
    return value && !context_.values.IsNone(value) && !context_.values.IsFalse(value);
  };
  const std::vector<ValueId> samplers = context_.loading.SamplersOf(loader);
  return std::ranges::all_of(samplers, [&](ValueId sampler) {
    if (context_.values.IsA(sampler, "torch.utils.data.SequentialSampler")) return true;
    const bool draws_all = context_.values.IsA(sampler, "torch.utils.data.RandomSampler");
    return draws_all && !is_given(sampler, "generator") && !is_given(sampler, "num_samples") && !is_given(sampler, "replacement");
  });
}

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
  return std::ranges::any_of(args, [&](ValueId arg) { return IsOwn(arg); }) || ReadsRank(value.class_id());
}

// It differs between ranks, or what callers pass for it does by the number of the rank.
bool WholeSets::IsOwn(ValueId value) const {
  return value && context_.values.AnyPart(value, [&](ValueId part) {
    const variation::Value& node = context_.facts.values_store[part];
    if (node.kind != ValueKind::Param) return !node.axes.empty();
    return std::ranges::any_of(context_.index.CallersOf(node.function()), [&](const objects::Site& caller) {
      const ValueId passed = context_.index.PassedBy(caller, node.function(), node.param_index());
      const knowledge::Axes axes = passed ? context_.facts.values_store.axes(passed) : knowledge::Axes();
      return axes.has(knowledge::Axis::Global) || axes.has(knowledge::Axis::Local) || axes.has(knowledge::Axis::DataParallel);
    });
  });
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
