// Findings that lead to no mismatch of operations, run as the schedules that they stand for.
#pragma once

#include "runtime-verify/coordinator/verdict.h"

namespace allranks::verify {

// The witness whose `ops` are those of one step, as the schedule that its scenario stands for. Others come
// back as they are.
witness::Witness Expanded(const witness::Witness& witness);
// Adds the numbers behind that schedule to its verdict, and what PyTorch makes of operations that all went through.
void AddMeasure(const witness::Witness& witness, Verdict* verdict);

}  // namespace allranks::verify
