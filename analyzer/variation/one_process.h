// Conditions that hold in no job of several ranks: they ask for the number of ranks or devices, and one is what they want.
#pragma once

#include "analyzer/variation/value.h"

namespace allranks::variation {

// `torch.cuda.device_count() < 2`, `not world_size > 1`, also beside other conditions (`and`). Jobs of one process on each node are
// left out of account, as they are in the worlds that ranks are compared in.
bool IsOfOneProcess(const ValueStore& store, ValueId condition);

}  // namespace allranks::variation
