// Operations that are told by values: messages handed over together, as a list (`batch_isend_irecv([P2POp(isend, x, right),
// P2POp(irecv, y, left)])`), and what was prepared before it is started (`MPI_Send_init`, `MPI_Start`).
#pragma once

#include <optional>

#include "analyzer/traces/build.h"

namespace allranks::traces {

// The messages of a list that conditions may have decided on; none where the list or what is in it is not known.
std::optional<TraceId> MessagesOf(State& state, SiteId site, ValueId list, int depth = 0);

// What starting `handle` issues: one operation that was prepared, or each of an array of them. None where that is not known.
std::optional<TraceId> StartedBy(State& state, SiteId site, ValueId handle, int depth = 0);

// For the ledger: what a start issues there, or that nobody knows.
void NoteStarted(State& state, SiteId site, ValueId handle);

}  // namespace allranks::traces
