#include "analyzer/traces/loop_ends.h"

#include <vector>

#include "analyzer/variation/tables.h"

namespace allranks::traces {

LoopEnds::LoopEnds(variation::ValueStore& values, base::Interner& names)
    : values_(values), any_(values.NewSymbol()), items_(values.NewSymbol()), at_some_time_(values.NewSymbol()) {
  values.SetOperation(any_, names.Intern("builtins.any"));
  values.SetOperation(items_, names.Intern(variation::kComprehended));
  for (const uint32_t operation : {any_, items_}) values.SetStructural(operation);
}

ValueId LoopEnds::LeavesFor(const TraceStore& traces, TraceId body, ValueId items, ValueId item, ValueId trips) const {
  const ValueId breaks = BreaksIn(traces, body);
  // A round that is cut short may not come to the `break`.
  const bool is_told = items && item && trips && (traces[body].flags & kLeavesContinue) == 0;
  if (!is_told) return AtSomeTime(breaks);
  const ValueId parts[] = {breaks, items, item, values_.True(), trips};
  const ValueId each = values_.Derived(items_, parts);
  return values_.Derived(any_, {&each, 1});
}

ValueId LoopEnds::LeavesWhile(const TraceStore& traces, TraceId body) const { return AtSomeTime(BreaksIn(traces, body)); }

// What holds in a round that comes to a `break` in this part of the body.
ValueId LoopEnds::BreaksIn(const TraceStore& traces, TraceId part) const {
  const Trace& trace = traces[part];
  if ((trace.flags & kLeavesBreak) == 0) return values_.False();
  std::vector<ValueId> ways;
  switch (trace.kind) {
    case TraceKind::Exit:
      return values_.True();
    case TraceKind::Seq:
      for (const TraceId kid : traces.Kids(part)) ways.push_back(BreaksIn(traces, kid));
      return values_.Or(ways);
    case TraceKind::Choice: {
      const ValueId then_way[] = {trace.value, BreaksIn(traces, traces.Kids(part)[0])};
      const ValueId else_way[] = {values_.Not(trace.value), BreaksIn(traces, traces.Kids(part)[1])};
      const ValueId both[] = {values_.And(then_way), values_.And(else_way)};
      return values_.Or(both);
    }
    default:
      return values_.Fresh({});
  }
}

ValueId LoopEnds::AtSomeTime(ValueId condition) const { return values_.Derived(at_some_time_, {&condition, 1}); }

}  // namespace allranks::traces
