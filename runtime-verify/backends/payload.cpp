#include "runtime-verify/backends/payload.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace allranks::verify {
namespace {

using witness::Dtype;
using witness::OpKind;
using witness::Redop;
using witness::ScheduledOp;

constexpr std::byte kUntouched{0xa5};
constexpr size_t kGuardBytes = 64;
// 16 ranks times 13 fit into a byte and into the 8 bits of bf16.
constexpr uint32_t kLargest = 13;
constexpr uint32_t kMostSummed = 16;

double Sent(const ScheduledOp& op, uint32_t rank, const PayloadPlace& place, size_t index) {
  const uint64_t at = uint64_t{place.tag} * 5 + index;
  // One rank doubles, so that the product stays 2.
  if (IsReduction(op.kind) && op.redop == Redop::Product) return at % place.size == rank ? 2 : 1;
  // Of more ranks than that one gives each element of a reduction.
  if (IsReduction(op.kind) && place.size > kMostSummed && at % place.size != rank) return 0;
  return static_cast<double>(1 + (uint64_t{rank} * 7 + uint64_t{op.comm} * 3 + at) % kLargest);
}

double Combine(Redop redop, double a, double b) {
  switch (redop) {
    case Redop::Product:
      return a * b;
    case Redop::Min:
      return std::min(a, b);
    case Redop::Max:
      return std::max(a, b);
    case Redop::Sum:
    case Redop::Average:
    case Redop::Other:
      return a + b;
  }
  return a + b;
}

double Reduced(const ScheduledOp& op, const PayloadPlace& place, size_t index) {
  double value = Sent(op, 0, place, index);
  for (uint32_t rank = 1; rank < place.size; ++rank)
    value = Combine(op.redop, value, Sent(op, rank, place, index));
  return op.redop == Redop::Average ? value / place.size : value;
}

double Expected(const ScheduledOp& op, const PayloadPlace& place, size_t index) {
  const auto count = size_t{op.count};
  switch (op.kind) {
    case OpKind::AllReduce:
    case OpKind::Reduce:
      return Reduced(op, place, index);
    case OpKind::ReduceScatter:
      return Reduced(op, place, place.rank * count + index);
    case OpKind::Broadcast:
      return Sent(op, static_cast<uint32_t>(op.root), place, index);
    case OpKind::AllGather:
      return Sent(op, static_cast<uint32_t>(index / count), place, index % count);
    case OpKind::AllToAll:
      return Sent(op, static_cast<uint32_t>(index / count), place, place.rank * count + index % count);
    case OpKind::Recv:
      return Sent(op, static_cast<uint32_t>(op.peer), place, index);
    default:
      return 0;
  }
}

bool IsFloating(Dtype dtype) {
  return dtype == Dtype::F32 || dtype == Dtype::F64 || dtype == Dtype::F16 || dtype == Dtype::Bf16;
}

bool IsClose(const ScheduledOp& op, double expected, double got) {
  if (op.redop != Redop::Average || !IsReduction(op.kind)) return expected == got;
  // Means are rounded: to whole numbers, or to the 8 bits of bf16.
  return std::fabs(expected - got) <= (IsFloating(op.dtype) ? expected / 100 : 1);
}

// IEEE binary16.
double FromHalf(uint16_t bits) {
  const double sign = (bits & 0x8000u) != 0 ? -1 : 1;
  const int exponent = (bits >> 10) & 0x1f;
  const double fraction = bits & 0x3ffu;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

uint16_t ToHalf(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7e00;
  int exponent = 0;
  // 0.5 <= fraction < 1
  const double fraction = std::frexp(std::fabs(value), &exponent);
  if (value == 0 || exponent < -23) return sign;
  if (exponent > 16) return static_cast<uint16_t>(sign | 0x7c00);
  if (exponent < -13) return static_cast<uint16_t>(sign | std::lround(std::ldexp(fraction, exponent + 24)));
  // The hidden bit and a rounding that carries both add to the exponent.
  const auto mantissa = std::lround(std::ldexp(fraction, 11)) - 1024;
  return static_cast<uint16_t>(sign | (((exponent + 14) << 10) + mantissa));
}

template <class T>
double LoadAs(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return static_cast<double>(value);
}

template <class T>
void StoreAs(double value, std::byte* to) {
  const T typed = static_cast<T>(value);
  std::memcpy(to, &typed, sizeof(typed));
}

}  // namespace

size_t InputElements(const ScheduledOp& op, uint32_t size) {
  switch (op.kind) {
    case OpKind::ReduceScatter:
    case OpKind::AllToAll:
      return size_t{op.count} * size;
    case OpKind::Recv:
    case OpKind::Wait:
    case OpKind::Barrier:
      return 0;
    default:
      return op.count;
  }
}

size_t OutputElements(const ScheduledOp& op, const PayloadPlace& place) {
  switch (op.kind) {
    case OpKind::AllGather:
    case OpKind::AllToAll:
      return size_t{op.count} * place.size;
    case OpKind::Reduce:
      return static_cast<int32_t>(place.rank) == op.root ? op.count : 0;
    case OpKind::Send:
    case OpKind::Wait:
    case OpKind::Barrier:
      return 0;
    default:
      return op.count;
  }
}

OpBuffers MakeBuffers(const ScheduledOp& op, const PayloadPlace& place) {
  const uint32_t bytes = BytesOf(op.dtype);
  OpBuffers buffers;
  buffers.input.resize(InputElements(op, place.size) * bytes);
  for (size_t i = 0; i * bytes < buffers.input.size(); ++i) {
    StoreElement(op.dtype, Sent(op, place.rank, place, i), &buffers.input[i * bytes]);
  }
  buffers.output.assign(OutputElements(op, place) * bytes + kGuardBytes, kUntouched);
  return buffers;
}

DataCheck CheckOutput(const ScheduledOp& op, const PayloadPlace& place,
                      const std::vector<std::byte>& output) {
  DataCheck check;
  const uint32_t bytes = BytesOf(op.dtype);
  const size_t elements = OutputElements(op, place);
  for (size_t i = 0; i < elements; ++i) {
    const double expected = Expected(op, place, i), got = LoadElement(op.dtype, &output[i * bytes]);
    if (IsClose(op, expected, got)) continue;
    if (check.bad++ == 0) {
      check.first = i;
      check.expected = expected;
      check.got = got;
    }
  }
  const auto guard = output.begin() + static_cast<ptrdiff_t>(elements * bytes);
  if (std::all_of(guard, output.end(), [](std::byte b) { return b == kUntouched; })) return check;
  if (check.bad++ == 0) check.first = elements;
  return check;
}

double LoadElement(Dtype dtype, const std::byte* from) {
  switch (dtype) {
    case Dtype::F32:
      return LoadAs<float>(from);
    case Dtype::F64:
      return LoadAs<double>(from);
    case Dtype::I32:
      return LoadAs<int32_t>(from);
    case Dtype::I64:
      return LoadAs<int64_t>(from);
    case Dtype::U8:
      return LoadAs<uint8_t>(from);
    case Dtype::F16:
      return FromHalf(static_cast<uint16_t>(LoadAs<uint16_t>(from)));
    case Dtype::Bf16: {
      // The upper half of a float.
      const uint32_t bits = static_cast<uint32_t>(LoadAs<uint16_t>(from)) << 16;
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      return value;
    }
  }
  return 0;
}

void StoreElement(Dtype dtype, double value, std::byte* to) {
  switch (dtype) {
    case Dtype::F32:
      return StoreAs<float>(value, to);
    case Dtype::F64:
      return StoreAs<double>(value, to);
    case Dtype::I32:
      return StoreAs<int32_t>(value, to);
    case Dtype::I64:
      return StoreAs<int64_t>(value, to);
    case Dtype::U8:
      return StoreAs<uint8_t>(value, to);
    case Dtype::F16:
      return StoreAs<uint16_t>(ToHalf(value), to);
    case Dtype::Bf16: {
      const auto typed = static_cast<float>(value);
      uint32_t bits;
      std::memcpy(&bits, &typed, sizeof(bits));
      return StoreAs<uint16_t>(bits >> 16, to);
    }
  }
}

void ReduceElements(Dtype dtype, Redop redop, std::byte* result, const std::byte* a, const std::byte* b,
                    size_t count) {
  const uint32_t bytes = BytesOf(dtype);
  for (size_t at = 0; at < count * bytes; at += bytes) {
    StoreElement(dtype, Combine(redop, LoadElement(dtype, a + at), LoadElement(dtype, b + at)), result + at);
  }
}

}  // namespace allranks::verify
