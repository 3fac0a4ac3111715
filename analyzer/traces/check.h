// Whether all ranks agree in one function: pairs of ranks on small worlds, then choices that each rank decides by its
// own values, then exception handlers.
#pragma once

#include <unordered_set>

#include "analyzer/traces/build.h"

namespace allranks::traces {

struct CheckResult {
  std::vector<Difference> differences;
  std::unordered_set<uint32_t> flagged_sites;   // SiteId of operations that differences name
};

// Looks at the trace of `func`, already built in `state`. Afterwards that trace is settled: what was reported, and what
// was proven to agree whatever callers pass, is taken as agreed by callers.
void CheckFunction(State& state, FuncId func, CheckResult* result);

}  // namespace allranks::traces
