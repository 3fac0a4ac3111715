// Which differences stand when callers have looked at them. `begin()` lets all ranks but one into a barrier and `end()` the
// last one: by itself each differs, and who calls both agrees. So a difference of presence stays open in the traces of
// callers, and the functions that call it have the last word.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/traces/check.h"

namespace allranks::traces {

struct Standing {
  std::vector<Difference> differences;
  // By SiteId of the operations that ranks do not agree on: what the surest difference about it rests on.
  std::unordered_map<uint32_t, findings::Assumptions> flagged_sites;
  std::unordered_set<uint32_t> unexplained_sites;   // the same: ranks differ there, and it is not known why
};

// A difference stands where it was found if every caller shows it, or nobody calls. If some callers show it, it stands in
// these; if none does, nowhere.
Standing WhatStands(CheckResult result);

// The conditions of callees that are open in the trace of `func`.
std::vector<Judged> JudgedIn(const State& state, FuncId func, TraceId root);

}  // namespace allranks::traces
