// Which of the settings that are tried (pairs.cpp) a trace asks for. What a rank issues in a part that asks for none of those that
// two tries tell apart is the same in both, so that its list is made once.
//
// Invariant: whatever the evaluator looks up of an assignment on its way through a value is found here as a use: the setting itself,
// and of one like `mode == "train"` also `mode`, which is "train" where that holds.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/base/number_map.h"
#include "analyzer/traces/evaluate.h"
#include "analyzer/traces/trace.h"

namespace allranks::traces {

class SettingUses {
 public:
  // Of the settings that `tries` do not agree on; the first 64 of them are told apart.
  SettingUses(const TraceStore& traces, std::span<const Assignment> tries);

  // A hash of what `trace` gets of `assignment`; 0 where it asks for nothing that is tried.
  uint64_t AskedOf(TraceId trace, const Assignment& assignment);

 private:
  uint64_t In(TraceId trace);
  uint64_t In(ValueId value);
  uint64_t InOperation(TraceId operation);

  const TraceStore& traces_;
  std::vector<uint32_t> settings_;   // by bit: the ValueId
  // A use: the value, and the bit of the setting that it brings.
  base::NumberMap<uint64_t> brought_;            // by ValueId
  base::NumberMap<uint64_t> in_traces_, in_values_;
};

}  // namespace allranks::traces
