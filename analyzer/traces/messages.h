// Messages that are handed over together, as a list: `batch_isend_irecv([P2POp(isend, x, right), P2POp(irecv, y, left)])`.
#pragma once

#include <optional>

#include "analyzer/traces/build.h"

namespace allranks::traces {

// The messages of a list that conditions may have decided on; none where the list or what is in it is not known.
std::optional<TraceId> MessagesOf(State& state, SiteId site, ValueId list, int depth = 0);

}  // namespace allranks::traces
