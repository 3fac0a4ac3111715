// Data whose result is known exactly: small whole numbers, which sums of up to 16 ranks keep exact in every
// type.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime-verify/backends/backend.h"

namespace allranks::verify {

// Where an operation stands: decides what its ranks send.
struct PayloadPlace {
  uint32_t rank = 0;  // in the communicator
  uint32_t size = 1;
  uint32_t tag = 0;
};

// Elements of the buffers; 0 where the rank has none.
size_t InputElements(const witness::ScheduledOp& op, uint32_t size);
size_t OutputElements(const witness::ScheduledOp& op, const PayloadPlace& place);

// The input as the rank sends it; the output full of a pattern that no result has, with a guard behind it.
OpBuffers MakeBuffers(const witness::ScheduledOp& op, const PayloadPlace& place);

struct DataCheck {
  size_t bad = 0;
  size_t first = 0;  // the first element that is wrong; the output's size if the guard is
  double expected = 0;
  double got = 0;
};

// Compares with what the operation, as this rank declared it, gives if all ranks issue the same.
DataCheck CheckOutput(const witness::ScheduledOp& op, const PayloadPlace& place,
                      const std::vector<std::byte>& output);

double LoadElement(witness::Dtype dtype, const std::byte* from);
void StoreElement(witness::Dtype dtype, double value, std::byte* to);

// result[i] = a[i] op b[i].
void ReduceElements(witness::Dtype dtype, witness::Redop redop, std::byte* result, const std::byte* a,
                    const std::byte* b, size_t count);

}  // namespace allranks::verify
