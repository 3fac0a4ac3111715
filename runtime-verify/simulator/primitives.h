// The steps of NCCL's ring algorithms, one channel, as in its
// src/device/{all_reduce,all_gather,reduce_scatter, broadcast,reduce}.h and prims_{ll,simple}.h (v2.28.9).
#pragma once

#include "runtime-verify/simulator/ring.h"

namespace allranks::verify {

// Receives from the rank before, then sends to the rank behind, or does one of both.
struct Primitive {
  bool receives = false;
  bool sends = false;
  // LL only: lines of 8 bytes that it moves. A receiver waits for the flag of every line it expects.
  uint32_t lines = 0;
};

// How many of the 8 steps of a connection one primitive takes, and in how many parts.
struct StepShape {
  uint32_t slices = 1;
  uint32_t steps_per_slice = 1;
};

constexpr int64_t kConnectionSteps = 8;

StepShape ShapeOf(witness::OpKind kind, Protocol protocol);

// What one rank does for one operation. `position` is its rank in the communicator of `size` ranks: the ring
// goes through them in order.
class RingProgram {
 public:
  RingProgram(const witness::ScheduledOp& op, Protocol protocol, uint32_t size, uint32_t position);
  uint64_t primitives() const { return loops_ * per_loop_; }
  Primitive At(uint64_t index) const;

 private:
  uint32_t LinesAt(uint64_t loop, uint64_t step) const;

  witness::OpKind kind_;
  bool low_latency_;
  uint32_t size_, position_, root_;
  uint32_t element_bytes_;
  uint64_t count_, per_loop_ = 1, loops_ = 1, chunk_ = 1;
};

}  // namespace allranks::verify
