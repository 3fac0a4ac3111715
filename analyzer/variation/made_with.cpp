// What an object of a library was made with, and whether that makes what it yields differ between ranks.
#include <algorithm>

#include "analyzer/variation/evaluator.h"

namespace allranks::variation {

// A stream of the project's own: no sampler deals it out, so that it takes the part of its rank itself.
bool FunctionEvaluator::SplitsItself(const Value& data_set) const {
  if (data_set.kind != ValueKind::Instance) return false;
  const knowledge::ClassId stream = knowledge_.FindClass(tables_.program.names->Find("torch.utils.data.IterableDataset"));
  return stream && std::ranges::any_of(tables_.known_bases[data_set.class_id().index], [&](knowledge::ClassId known) { return knowledge_.IsSubclass(known, stream); });
}

// Whether the receiver was made with an argument that makes what it yields differ between ranks. One whose making
// was not seen may have been.
bool FunctionEvaluator::MadeToVary(const knowledge::Entry& entry, ValueId receiver) {
  if (entry.varies_with.empty() || !receiver || store_[receiver].kind != ValueKind::Object) return true;
  const knowledge::ClassId class_id = knowledge_.FindClass(store_[receiver].name());
  const knowledge::EntryId init = knowledge_.FindMember(class_id, Intern("__init__"));
  const auto made_with = store_.Kids(receiver);
  if (!init || made_with.empty()) return true;
  const std::vector<NameId>& params = knowledge_[init].params;
  for (size_t i = 0; i < made_with.size() && i < params.size(); ++i) {
    if (!made_with[i]) continue;
    const Value& argument = store_[made_with[i]];
    const bool is_off = argument.kind == ValueKind::None || made_with[i] == store_.False();
    if (!argument.axes.empty() || SplitsItself(argument)) return true;
    if (!is_off && std::ranges::count(entry.varies_with, params[i]) > 0 && YieldsOnEachRank(made_with[i])) return true;
  }
  return false;
}

// What a sampler deals out may be another thing on each rank; not if it goes through the data set in order.
bool FunctionEvaluator::YieldsOnEachRank(ValueId sampler) {
  const knowledge::EntryId iter = store_[sampler].kind == ValueKind::Object ? KnownMember(sampler, Intern("__iter__")) : knowledge::EntryId::None();
  if (!iter) return true;
  // `DistributedSampler(data, num_replicas=1, rank=0)`: each rank gets all of it.
  if (MadeWith(sampler, Intern("num_replicas")) == store_.Int(1)) return false;
  const knowledge::Entry& entry = knowledge_[iter];
  return entry.yield.kind != knowledge::YieldKind::Uniform && MadeToVary(entry, sampler);
}

// What an object of a library was made with; none if it was not passed, or if its making was not seen.
ValueId FunctionEvaluator::MadeWith(ValueId object, NameId param) {
  if (!object || store_[object].kind != ValueKind::Object) return ValueId::None();
  const knowledge::ClassId class_id = knowledge_.FindClass(store_[object].name());
  const knowledge::EntryId init = knowledge_.FindMember(class_id, Intern("__init__"));
  if (!init) return ValueId::None();
  const std::vector<NameId>& params = knowledge_[init].params;
  const auto index = static_cast<size_t>(std::ranges::find(params, param) - params.begin());
  const auto kids = store_.Kids(object);
  return index < kids.size() ? kids[index] : ValueId::None();
}

}  // namespace allranks::variation
