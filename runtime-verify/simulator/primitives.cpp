#include "runtime-verify/simulator/primitives.h"

#include <algorithm>

namespace allranks::verify {
namespace {

using witness::OpKind;

// Bytes of data of a chunk: a step of the LL buffer (half of it is flags), and four steps of Simple's 4 MiB
// buffer.
constexpr uint64_t kLowLatencyChunk = 32 << 10;
constexpr uint64_t kSimpleChunk = 2 << 20;
constexpr uint64_t kBytesPerLine = 8;
constexpr uint64_t kAlignment = 16;

bool MovesWholeChunks(OpKind kind) { return !witness::IsRooted(kind); }

uint64_t DivideUp(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

}  // namespace

StepShape ShapeOf(OpKind kind, Protocol protocol) {
  if (protocol == Protocol::LowLatency || !MovesWholeChunks(kind)) return {};
  return {.slices = 2, .steps_per_slice = 2};
}

RingProgram::RingProgram(const witness::ScheduledOp& op, Protocol protocol, uint32_t size, uint32_t position)
    : kind_(op.kind == OpKind::Barrier ? OpKind::AllReduce : op.kind),
      low_latency_(protocol == Protocol::LowLatency),
      size_(size),
      position_(position),
      root_(op.root < 0 ? 0 : static_cast<uint32_t>(op.root)),
      element_bytes_(BytesOf(op.dtype)),
      // PyTorch's barrier is a reduction of one element.
      count_(op.kind == OpKind::Barrier ? 1 : op.count) {
  // Nothing moves in a ring of one.
  if (size_ == 1) per_loop_ = 0;
  if (size_ == 1) return;
  chunk_ = (low_latency_ ? kLowLatencyChunk : kSimpleChunk) / element_bytes_;
  const uint64_t per_loop_count = kind_ == OpKind::AllReduce ? chunk_ * size_ : chunk_;
  loops_ = DivideUp(count_, per_loop_count);
  if (kind_ == OpKind::AllReduce) per_loop_ = 2 * size_ - 1;
  if (kind_ == OpKind::AllGather || kind_ == OpKind::ReduceScatter) per_loop_ = size_;
}

Primitive RingProgram::At(uint64_t index) const {
  const uint64_t loop = index / per_loop_, step = index % per_loop_;
  Primitive primitive{.lines = LinesAt(loop, step)};
  if (kind_ == OpKind::Broadcast) {
    primitive.receives = position_ != root_;
    primitive.sends = (position_ + 1) % size_ != root_;
  } else if (kind_ == OpKind::Reduce) {
    primitive.receives = (position_ + size_ - 1) % size_ != root_;
    primitive.sends = position_ != root_;
  } else {
    primitive.receives = step > 0;
    primitive.sends = step + 1 < per_loop_;
  }
  return primitive;
}

uint32_t RingProgram::LinesAt(uint64_t loop, uint64_t step) const {
  uint64_t elements = 0;
  if (kind_ == OpKind::AllReduce) {
    const uint64_t left = count_ - loop * chunk_ * size_;
    const uint64_t unit = kAlignment / element_bytes_;
    const uint64_t chunk = left < chunk_ * size_ ? DivideUp(DivideUp(left, size_), unit) * unit : chunk_;
    // Step k works on the chunk that the ring has moved k places.
    const uint64_t offset = (position_ + 2 * size_ - 1 - step) % size_ * chunk;
    elements = offset < left ? std::min(chunk, left - offset) : 0;
  } else {
    elements = std::min(chunk_, count_ - loop * chunk_);
  }
  return static_cast<uint32_t>(DivideUp(elements * element_bytes_, kBytesPerLine));
}

}  // namespace allranks::verify
