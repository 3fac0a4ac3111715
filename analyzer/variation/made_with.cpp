#include "analyzer/variation/made_with.h"

#include <algorithm>

namespace allranks::variation {
namespace {

// The entry of the constructor of an object of a library; none of anything else.
knowledge::EntryId ConstructorOf(const Tables& tables, ValueId object) {
  if (!object || tables.store[object].kind != ValueKind::Object) return {};
  const knowledge::ClassId class_id = tables.knowledge.FindClass(tables.store[object].name());
  return tables.knowledge.FindMember(class_id, tables.program.names->Intern("__init__"));
}

// A stream of the project's own: no sampler deals it out, so that it takes the part of its rank itself.
bool SplitsItself(const Tables& tables, const Value& data_set) {
  if (data_set.kind != ValueKind::Instance) return false;
  const knowledge::ClassId stream = tables.knowledge.FindClass(tables.program.names->Find("torch.utils.data.IterableDataset"));
  return stream && std::ranges::any_of(tables.known_bases[data_set.class_id().index], [&](knowledge::ClassId known) {
    return tables.knowledge.IsSubclass(known, stream);
  });
}

// What a sampler deals out may be another thing on each rank; not if it goes through the data set in order.
bool YieldsOnEachRank(const Tables& tables, ValueId sampler) {
  if (tables.store[sampler].kind != ValueKind::Object) return true;
  const knowledge::ClassId class_id = tables.knowledge.FindClass(tables.store[sampler].name());
  const knowledge::EntryId iter = class_id ? tables.knowledge.FindMember(class_id, tables.program.names->Intern("__iter__")) : knowledge::EntryId();
  if (!iter) return true;
  // `DistributedSampler(data, num_replicas=1, rank=0)`: each rank gets all of it.
  if (MadeWith(tables, sampler, tables.program.names->Intern("num_replicas")) == tables.store.Int(1)) return false;
  const knowledge::Entry& entry = tables.knowledge[iter];
  return entry.yield.kind != knowledge::YieldKind::Uniform && IsMadeToVary(tables, entry, sampler);
}

}  // namespace

ValueId MadeWith(const Tables& tables, ValueId object, NameId param) {
  const knowledge::EntryId init = ConstructorOf(tables, object);
  if (!init) return ValueId::None();
  const std::vector<NameId>& params = tables.knowledge[init].params;
  const auto index = static_cast<size_t>(std::ranges::find(params, param) - params.begin());
  const auto made_with = tables.store.Kids(object);
  return index < made_with.size() ? made_with[index] : ValueId::None();
}

ValueId ContentsOf(Tables& tables, ValueId object) {
  if (!object || tables.store[object].kind != ValueKind::Object) return {};
  const knowledge::ClassId class_id = tables.knowledge.FindClass(tables.store[object].name());
  const knowledge::EntryId iter = class_id ? tables.knowledge.FindMember(class_id, tables.program.names->Intern("__iter__")) : knowledge::EntryId();
  if (!iter || tables.knowledge[iter].yield.kind != knowledge::YieldKind::MadeWith) return {};
  const ValueId contents = MadeWith(tables, object, tables.knowledge[iter].yield.argument);
  return contents ? LookThrough(tables, contents) : tables.store.Tuple({});
}

ValueId WithContents(Tables& tables, ValueId object, ValueId contents) {
  const Value container = tables.store[object];
  return tables.store.Make(container, {&contents, 1});
}

bool IsMadeToVary(const Tables& tables, const knowledge::Entry& entry, ValueId receiver) {
  const ValueStore& store = tables.store;
  if (entry.varies_with.empty() || !receiver || store[receiver].kind != ValueKind::Object) return true;
  const knowledge::EntryId init = ConstructorOf(tables, receiver);
  const auto made_with = store.Kids(receiver);
  if (!init || made_with.empty()) return true;
  const std::vector<NameId>& params = tables.knowledge[init].params;
  for (size_t i = 0; i < made_with.size() && i < params.size(); ++i) {
    if (!made_with[i]) continue;
    const Value& argument = store[made_with[i]];
    const bool is_off = argument.kind == ValueKind::None || made_with[i] == store.False();
    if (!argument.axes.empty() || SplitsItself(tables, argument)) return true;
    if (!is_off && std::ranges::count(entry.varies_with, params[i]) > 0 && YieldsOnEachRank(tables, made_with[i])) return true;
  }
  return false;
}

}  // namespace allranks::variation
