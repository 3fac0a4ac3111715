// Contexts of which a condition chooses one: `with Fence() if rank else nullcontext():`.
#pragma once

#include "analyzer/traces/build.h"

namespace allranks::traces {

// What entering and leaving a context runs, whichever of several it is.
SplitTrace EnteredAndLeft(State& state, SiteId site, ValueId context);

// What is true where backward reduces no gradients under a context.
ValueId DefersGradients(const State& state, ValueId context);

}  // namespace allranks::traces
