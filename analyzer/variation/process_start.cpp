// Processes that the program starts by itself: `mp.spawn(worker, args=(...), nprocs=n)`, `Process(target=worker)`.
#include <algorithm>

#include "analyzer/variation/evaluator.h"

namespace allranks::variation {

// The started function gets, as if it were called, what is passed for its arguments. It runs in one process of this
// machine: what its parameters say of ranks is said of a job on one node, where the global rank is the local one.
void FunctionEvaluator::NoteProcessStart(const LibraryCall& call) {
  for (const knowledge::RoleOf& role : call.entry.roles) {
    const bool with_index = role.role == knowledge::Role::StartsWithIndex;
    if (!with_index && role.role != knowledge::Role::StartProcesses) continue;
    const ValueId started = call.Passed(role.param);
    if (!started) continue;
    const ValueId function = LookThrough(tables_, started);
    if (store_[function].kind != ValueKind::Function) continue;
    RecordStarted(store_[function].function(), store_.ReceiverOf(function), with_index, call.Passed(Intern("args")));
  }
}

void FunctionEvaluator::RecordStarted(FuncId function, ValueId receiver, bool with_index, ValueId arguments) {
  const ir::Function& definition = tables_.program.function(function);
  std::vector<ValueId> passed;
  if (receiver) passed.push_back(receiver);
  if (with_index) passed.push_back(OnOneNode(store_.Coordinate(knowledge::Coordinate::Rank)));
  if (arguments && store_[arguments].kind == ValueKind::Tuple) {
    for (const ValueId item : std::vector<ValueId>(store_.Kids(arguments).begin(), store_.Kids(arguments).end())) {
      passed.push_back(item);
    }
  }
  const bool index_is_first = with_index;
  for (uint32_t i = 0; i < definition.params.size(); ++i) {
    const bool is_index = index_is_first && i == (receiver ? 1u : 0u);
    const knowledge::Hint* hint = is_index ? nullptr : knowledge_.FindHint(definition.params[i].name);
    ValueId value = i < passed.size() ? passed[i] : ValueId::None();
    // `Process(target=worker, args=(rank, size))` in a loop over the ranks.
    const bool is_counter = value && (store_[value].kind == ValueKind::Derived || store_[value].kind == ValueKind::Unknown);
    if (hint != nullptr && (!value || is_counter)) {
      if (const ValueId hinted = tables_.HintValue(*hint)) value = OnOneNode(hinted);
    }
    if (value) tables_.Record(TableId::Params, function.index, i, Closed(value));
  }
}

ValueId FunctionEvaluator::OnOneNode(ValueId value) {
  Value marked = store_[value];
  if (marked.kind != ValueKind::Coordinate) return value;
  marked.flags = static_cast<uint8_t>((marked.flags & ~kByNameOnly) | kOneNode);
  const auto kids = store_.Kids(value);
  return store_.Make(marked, kids);
}

}  // namespace allranks::variation
