#pragma once

#include "witness/outcome.h"
#include "witness/schedule.h"

namespace allranks::witness {

// The strict meaning of a schedule: the k-th collective of a communicator completes when all its members have
// issued it with the same kind and root; the k-th send to a peer when the peer issues its k-th receive, and
// the other way round. Operations that are not `sync` are issued and left; `wait` waits for them. What
// completes with different counts, types or reductions has wrong data. Linear in the number of operations
// issued.
Outcome MatchStrictly(const Schedule& schedule);

}  // namespace allranks::witness
