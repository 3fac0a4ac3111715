// Whether all ranks agree in one function: pairs of ranks on small worlds, then choices that each rank decides by its
// own values, then exception handlers.
#pragma once

#include <unordered_map>

#include "analyzer/traces/build.h"

namespace allranks::traces {

struct CheckResult {
  std::vector<Difference> differences;
  // By SiteId of the operations that ranks do not agree on: what the surest difference about it rests on.
  std::unordered_map<uint32_t, findings::Assumptions> flagged_sites;
  void Flag(SiteId site, findings::Assumptions assumptions);
};

// Looks at the trace of `func`, already built in `state`. Afterwards that trace is settled: what was reported, and what
// was proven to agree whatever callers pass, is taken as agreed by callers.
void CheckFunction(State& state, FuncId func, CheckResult* result);

}  // namespace allranks::traces
