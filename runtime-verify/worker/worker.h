#pragma once

#include "runtime-verify/backends/backend.h"

namespace allranks::verify {

// The life of one rank: obeys the coordinator on descriptors 3 and 4 until it is told to quit or the
// coordinator is gone. Does not return before; a rank that has finished its operations stays alive,
// because to some libraries an exit is an answer.
int RunWorker(Backend& backend);

}  // namespace allranks::verify
