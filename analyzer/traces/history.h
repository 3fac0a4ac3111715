// What is made by then: a walk over a trace in running order that knows, at each place, what a rank made on its way there.
//
// For each thing that is made once (made_once.h) the walk carries a value: true, not yet, the `Made` itself where nothing
// is known, or a condition over ranks (`rank == 0` after `if rank == 0: get()`). Each choice that asks for it gets that
// value instead, so that comparing ranks needs to know nothing of time. This is a forward data flow analysis whose facts
// are the values of the analysis itself; arms join by `Select`, so nothing is lost there.
//
// A script that joins the job has not joined it before: until then `is_initialized()` is false. (Unsound: what nobody can see may have.)
//
// The same walk knows which modules train and which are evaluated (module_mode.h), and what follows where the job is left:
// nothing there communicates. (Unsound: of two jobs of one program, MPI and torch, the other may go on.)
//
// Invariant: a rank takes an arm of the new trace exactly where it takes it in the old one with that history.
// Unsound: a loop is taken to run at least once, and a thing that an earlier round makes is not known in its body.
#pragma once

#include <unordered_map>
#include <vector>

#include "analyzer/traces/build.h"

namespace allranks::traces {

// `is_entry`: nothing ran before, so nothing is made yet. `origins` gets for every node of the result the node of `trace`
// that it came from.
TraceId WithHistory(State& state, TraceId trace, bool is_entry, Origins* origins);

}  // namespace allranks::traces
