// What a program demands of the number of ranks that it runs on: `assert world_size == 4`, `if world_size != 4: raise`. A function that
// does nothing else still says on which jobs its callers go on.
#pragma once

#include "analyzer/variation/facts.h"

namespace allranks::traces {

// Whether a condition in `func` is the same on all ranks and asks for the number of ranks, itself or through what callers pass.
bool AsksForSizePassed(const variation::Facts& facts, variation::ValueId condition);

// Whether `func` itself ends where such a condition does not hold.
bool MakesDemand(const binding::Program& program, const variation::Facts& facts, binding::FuncId func);

// How many processes each job has that the program starts itself, `mp.spawn(worker, nprocs=4)`; 0: that is not known, or not one number.
uint32_t StartedProcesses(const knowledge::Knowledge& knowledge, const variation::Facts& facts);

}  // namespace allranks::traces
