// Calls that can be operations although what is called is not one name: out of a table, by a name that is put together, of code that is
// loaded when the program runs. The ledger lists them (ledger.h), known or not.
//
// Invariant: what is asked here changes no trace.
#pragma once

#include "analyzer/traces/build.h"

namespace allranks::traces {

// `importlib.import_module(name).run`
bool IsOfUnseenCode(const State& state, ValueId callee);
// `getattr(dist, name)` of a library that has operations.
bool IsOfLibrary(const State& state, ValueId callee);
// `calls[0]()`, `(dist.barrier if rank == 0 else skip)()`: notes the operations of a library that a call chooses among.
void NoteChosen(State& state, SiteId site, ValueId callee);

}  // namespace allranks::traces
