// Which of the settings that are tried a trace asks for. What a rank issues in a part that asks for none of those that two tries
// tell apart is the same in both, so that its list is made once.
//
// Invariant: whatever the evaluator looks up of an assignment on its way through a value is found here as a use: the setting itself,
// and of one like `mode == "train"` also `mode`, which is "train" where that holds.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/base/number_map.h"
#include "analyzer/traces/evaluate.h"
#include "analyzer/traces/trace.h"

namespace allranks::traces {

class SettingUses {
 public:
  // `settings`: all that two tries may not agree on; a try need not name all of them.
  SettingUses(const TraceStore& traces, std::vector<ValueId> settings);

  // A hash of what `trace` gets of a try; 0 where it asks for none of the settings.
  uint64_t AskedOf(TraceId trace, const Assignment& assignment);
  // Whether a condition, or what an operation names, may be another in another try.
  bool IsTried(ValueId condition) { return !settings_.empty() && In(condition) != 0; }
  bool IsOperationTried(TraceId operation) { return !settings_.empty() && InOperation(operation) != 0; }

 private:
  uint64_t In(TraceId trace);
  uint64_t In(ValueId value);
  uint64_t InOperation(TraceId operation);

  const TraceStore& traces_;
  std::vector<ValueId> settings_;   // by bit; all from the last bit on share it
  std::unordered_map<ValueId, uint64_t> brought_;     // the settings that are looked up for a value, a bit each
  base::NumberMap<uint64_t> in_traces_, in_values_;   // by id: those that are looked up in it
};

}  // namespace allranks::traces
