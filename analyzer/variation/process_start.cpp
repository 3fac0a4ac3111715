#include "analyzer/variation/process_start.h"

#include <algorithm>

namespace allranks::variation {
namespace {

ValueId OnOneNode(ValueStore& store, ValueId value) {
  Value marked = store[value];
  if (marked.kind != ValueKind::Coordinate) return value;
  marked.flags = static_cast<uint8_t>((marked.flags & ~kByNameOnly) | kOneNode);
  return store.Make(marked, store.Kids(value));
}

bool CountsFromZero(Tables& tables, ValueId sequence) {
  const ValueStore& store = tables.store;
  const ValueId known = LookThrough(tables, sequence);
  const auto kids = store.Kids(known);
  if (store[known].is_derived(tables.NameSymbol("builtins.range"))) return kids.size() == 1 || (kids.size() == 2 && store[kids[0]].integer() == 0);
  if (store[known].kind != ValueKind::Tuple || kids.empty()) return false;
  for (size_t i = 0; i < kids.size(); ++i) {
    if (!kids[i] || store[kids[i]].integer() != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// `for i in range(n): Process(target=worker, args=(i, n))`
bool IsNumberOfProcess(Tables& tables, const LibraryCall& call, ValueId value) {
  return std::ranges::any_of(call.around, [&](const LoopVariable& loop) { return loop.variable == value && CountsFromZero(tables, loop.sequence); });
}

// What is behind it is what it is called with: `executor.submit(train, args)`.
ProcessStart TaskOf(Tables& tables, const LibraryCall& call, FuncId function, ValueId receiver) {
  std::vector<ValueId> passed;
  if (receiver) passed.push_back(receiver);
  for (size_t i = 1; i < call.args.size() && call.args[i].kind == ir::ArgKind::Positional; ++i) passed.push_back(call.args[i].value);
  passed.resize(tables.program.function(function).params.size());
  return {function, std::move(passed)};
}

// `with_index`: the first argument is the number of the process.
ProcessStart StartOf(Tables& tables, const LibraryCall& call, FuncId function, ValueId receiver, bool with_index, ValueId arguments) {
  ValueStore& store = tables.store;
  std::vector<ValueId> passed;
  if (receiver) passed.push_back(receiver);
  const size_t index_place = passed.size();
  if (with_index) passed.push_back(OnOneNode(store, store.Coordinate(knowledge::Coordinate::Rank)));
  if (arguments && store[arguments].kind == ValueKind::Tuple) {
    passed.insert(passed.end(), store.Kids(arguments).begin(), store.Kids(arguments).end());
  }
  const std::vector<ir::Param>& params = tables.program.function(function).params;
  passed.resize(params.size());
  for (size_t i = 0; i < params.size(); ++i) {
    ValueId& value = passed[i];
    if (value && IsNumberOfProcess(tables, call, value)) {
      value = OnOneNode(store, store.Coordinate(knowledge::Coordinate::Rank));
      continue;
    }
    // `Process(target=worker, args=(rank, size))` in a loop over the ranks.
    const bool is_counter = value && (store[value].kind == ValueKind::Derived || store[value].kind == ValueKind::Unknown);
    if ((value && !is_counter) || (with_index && i == index_place)) continue;
    const knowledge::Hint* hint = tables.knowledge.FindHint(params[i].name);
    const ValueId hinted = hint == nullptr ? ValueId() : tables.HintValue(*hint);
    if (hinted) value = OnOneNode(store, hinted);
  }
  return {function, std::move(passed)};
}

}  // namespace

std::vector<ProcessStart> ProcessStarts(Tables& tables, const LibraryCall& call) {
  const ValueStore& store = tables.store;
  std::vector<ProcessStart> starts;
  for (const knowledge::RoleOf& role : call.entry.roles) {
    if (!role.StartsProcesses()) continue;
    const bool with_index = role.role == knowledge::Role::StartsWithIndex;
    const bool is_task = role.role == knowledge::Role::StartsTasks;
    const ValueId started = call.Passed(role.param);
    const ValueId function = started ? LookThrough(tables, started) : ValueId();
    if (!function) continue;
    if (is_task && store[function].kind == ValueKind::Instance) {
      const FuncId call_method = tables.program.FindCallMethod(store[function].class_id());
      if (call_method) starts.push_back(TaskOf(tables, call, call_method, function));
    }
    if (store[function].kind != ValueKind::Function) continue;
    if (is_task) {
      starts.push_back(TaskOf(tables, call, store[function].function(), store.ReceiverOf(function)));
      continue;
    }
    const ValueId arguments = call.Passed(tables.program.names->Intern("args"));
    starts.push_back(StartOf(tables, call, store[function].function(), store.ReceiverOf(function), with_index, arguments));
  }
  return starts;
}

}  // namespace allranks::variation
