// Buffers of C and C++ that are touched while an operation still works on them: `MPI_Irecv(&x, ..., &request); y = x;`.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

void ReportBuffersInUse(const Context& context, variation::FuncId function, FindingSink& sink);

}  // namespace allranks::rules
