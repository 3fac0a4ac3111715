// Which nodes of a trace a rank of a scene gets to.
#pragma once

#include <unordered_set>

#include "analyzer/traces/project.h"

namespace allranks::traces {

// By TraceId. A choice that nothing decides on this rank leads both ways; a node that stands in several places is reached if it
// is reached in one of them.
std::unordered_set<uint32_t> NodesReached(const State& state, Scene& scene, TraceId root, uint32_t rank);

}  // namespace allranks::traces
