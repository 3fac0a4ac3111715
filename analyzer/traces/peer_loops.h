// Loops that send to, or receive from, another rank in each round: `for (src = 1; src < size; ++src) MPI_Recv(..., src, ...)`.
#pragma once

#include "analyzer/traces/build.h"
#include "analyzer/traces/sequence.h"

namespace allranks::traces {

struct PeerLoop {
  ValueId element;   // what stands for the item of a round; none: no loop over something
  ValueId items;
};
PeerLoop PeerLoopOf(const State& state, TraceId loop);

// Whether a message in a list goes to another rank, or is made at all, by what `element` is.
bool HangsOn(const State& state, const SequenceStore& sequences, SeqId list, ValueId element, int depth = 0);

}  // namespace allranks::traces
