#include "analyzer/traces/contexts.h"

#include <vector>

namespace allranks::traces {

using variation::ValueKind;

SplitTrace EnteredAndLeft(State& state, SiteId site, ValueId context) {
  TraceStore& traces = state.traces;
  const variation::Value value = state.values[context];
  const std::vector<ValueId> kids(state.values.Kids(context).begin(), state.values.Kids(context).end());
  if (value.kind == ValueKind::Select) {
    const SplitTrace one = EnteredAndLeft(state, site, kids[1]);
    const SplitTrace other = EnteredAndLeft(state, site, kids[2]);
    return {traces.Choice(site, kids[0], one.before, other.before), traces.Choice(site, kids[0], one.after, other.after)};
  }
  if (value.is_generator()) {
    const TraceId call = CallTrace(state, site, value.function(), kids[0], std::span(kids).subspan(1));
    if (traces[call].kind != TraceKind::Scope) return {call, traces.Empty()};
    const SplitTrace split = SplitAtYield(traces, traces.Kids(call)[0]);
    return {traces.Scope(site, value.function(), split.before), traces.Scope(site, value.function(), split.after)};
  }
  if (value.kind != ValueKind::Instance) return {traces.Empty(), traces.Empty()};
  const auto called = [&](std::string_view name) {
    const base::NameId known = state.program.names->Find(name);
    const FuncId method = known ? state.program.FindMethod(value.class_id(), known) : FuncId::None();
    return method ? CallTrace(state, site, method, {}, {&context, 1}) : traces.Empty();
  };
  return {called("__enter__"), called("__exit__")};
}

ValueId DefersGradients(const State& state, ValueId context) {
  const variation::Value value = state.values[context];
  if (value.kind == ValueKind::Select) {
    const std::vector<ValueId> kids(state.values.Kids(context).begin(), state.values.Kids(context).end());
    const ValueId one = DefersGradients(state, kids[1]);
    return state.values.Select(kids[0], one, DefersGradients(state, kids[2]));
  }
  const base::NameId operation = state.values.OperationOf(value);
  const knowledge::EntryId entry = operation ? state.knowledge.FindEntry(operation) : knowledge::EntryId::None();
  return state.values.Bool(entry && state.knowledge[entry].Has(knowledge::Role::DefersGradients));
}

}  // namespace allranks::traces
