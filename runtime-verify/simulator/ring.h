#pragma once

#include <string_view>

#include "witness/outcome.h"
#include "witness/schedule.h"

namespace allranks::verify {

// How NCCL moves data: few bytes as lines with flags, or whole buffers with counters.
enum class Protocol : uint8_t { LowLatency, Simple };

// "LL", "Simple": as NCCL_PROTO names them.
std::string_view NameOf(Protocol protocol);

// What NCCL's ring really does with a schedule, where nothing checks that the ranks issue the same: it hangs,
// or data of one operation is taken for that of another. With `fence`, two matched reductions on each
// communicator follow once all ranks are through: what was sent and never received shows up there. Their
// places are the two behind the rank's own.
witness::Outcome SimulateRing(const witness::Schedule& schedule, Protocol protocol, bool fence);

}  // namespace allranks::verify
