// How a loop ends: by a `break` in some round, or because there are no more items. Its `else` runs in the second case alone.
#pragma once

#include <cstdint>

#include "analyzer/traces/trace.h"

namespace allranks::traces {

class LoopEnds {
 public:
  LoopEnds(variation::ValueStore& values, base::Interner& names);

  // What is true of a rank that leaves a loop over `items` by a `break`, where `item` is its variable. `trips`: how often it runs.
  ValueId LeavesFor(const TraceStore& traces, TraceId body, ValueId items, ValueId item, ValueId trips) const;
  // The same of a `while`: no round of it is told from another one.
  ValueId LeavesWhile(const TraceStore& traces, TraceId body) const;

 private:
  ValueId BreaksIn(const TraceStore& traces, TraceId part) const;
  ValueId AtSomeTime(ValueId condition) const;

  variation::ValueStore& values_;
  uint32_t any_;      // the operations of `any(condition for item in items)`, by which it is evaluated
  uint32_t items_;
  uint32_t at_some_time_;
};

}  // namespace allranks::traces
