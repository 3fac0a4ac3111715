// Whether all ranks agree in one function: pairs of ranks on small worlds, then choices that each rank decides by its
// own values, then exception handlers.
#pragma once

#include <vector>

#include "analyzer/traces/build.h"

namespace allranks::traces {

struct Found {
  Difference difference;
  FuncId by;                     // the function in which it was found
  SiteId condition;              // what differs between the ranks; none: the operation itself
  bool is_open = false;          // callers judge it as well (standing.h)
  bool is_of_operation = false;  // and not of a condition
  std::vector<SiteId> sites;     // operations that ranks do not agree on
};

// A condition that a callee left open, compared in a caller.
struct Judged {
  FuncId by;
  SiteId condition;
  std::vector<FuncId> through;   // functions on the calls from `by` to the condition
};

struct CheckResult {
  std::vector<Found> found;
  std::vector<Judged> judged;
  std::vector<SiteId> unexplained;   // operations at which ranks differ for no reason that was found
};

// Looks at the trace of `func`, already built in `state`. Afterwards that trace is settled: what was reported, and what
// was proven to agree whatever callers pass, is taken as agreed by callers. Differences of presence stay open.
void CheckFunction(State& state, FuncId func, CheckResult* result);

// `found` is open: functions that come to it from here on judge it.
void NoteOpen(State& state, const Found& found);

}  // namespace allranks::traces
