// Processes that the program starts by itself: `mp.spawn(worker, args=(...), nprocs=n)`, `Process(target=worker)`.
//
// The idea: the started function gets, as if it were called, what is passed for its arguments. It runs in one process of this
// machine: what its parameters say of ranks is said of a job on one node, where the global rank is the local one (kOneNode).
//
// A scheduler's job (`executor.submit(train, args)`) spans nodes, and its function, or the `__call__` of its object, gets no number.
//
// A loop that counts from 0 and starts a process in each round passes its number, whatever the parameter is called.
//
// Invariant: a parameter that is not listed may be anything.
//
// Unsound: a parameter with a usual name for a rank (`def worker(rank, size)`) is taken for that, where a loop counts what is passed.
#pragma once

#include <vector>

#include "analyzer/variation/library_call.h"

namespace allranks::variation {

struct ProcessStart {
  FuncId function;
  std::vector<ValueId> values;  // by parameter; none: not known
};

// What a call starts in processes of its own, as its entry says.
std::vector<ProcessStart> ProcessStarts(Tables& tables, const LibraryCall& call);

}  // namespace allranks::variation
