// What the CUDA driver and NCCL look like to those that call them: the few types and constants that are used here.
//
// Both keep this interface stable: the driver's functions carry their version in their names (`_v2`), NCCL appends to its
// structures and is told their size. So no header decides whether the backend exists; where the headers are installed,
// abi_test.cpp compares.
#pragma once

#include <cstddef>
#include <cstdint>

namespace allranks::verify::abi {

// ---- CUDA driver ----

using CudaResult = int;
constexpr CudaResult kCudaSuccess = 0;
constexpr CudaResult kCudaStubLibrary = 34;
constexpr CudaResult kCudaNoDevice = 100;
constexpr CudaResult kCudaNotReady = 600;
constexpr CudaResult kCudaDriverMismatch = 803;

using Device = int;
using DevicePointer = unsigned long long;
using Context = struct ContextTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;

constexpr unsigned kStreamNonBlocking = 1;
constexpr unsigned kEventDisableTiming = 2;
constexpr int kAttributeComputeMode = 20;
constexpr int kAttributeCapabilityMajor = 75;
constexpr int kAttributeCapabilityMinor = 76;
constexpr int kComputeModeProhibited = 2;
constexpr int kComputeModeExclusive = 3;

// ---- NCCL ----

using NcclResult = int;
constexpr NcclResult kNcclSuccess = 0;
constexpr NcclResult kNcclInProgress = 7;

using Comm = struct CommTag*;

enum NcclType : int { kUint8 = 1, kInt32 = 2, kInt64 = 4, kFloat16 = 6, kFloat32 = 7, kFloat64 = 8, kBfloat16 = 9 };
enum NcclReduction : int { kSum = 0, kProd = 1, kMax = 2, kMin = 3, kAvg = 4 };

struct UniqueId {
  char internal[128];
};

// As NCCL 2.17 had it. Later versions append fields, take as many bytes as they are told, and reset what is newer than
// the version they are told; the last field is padding for 2.17 and `trafficClass` from 2.26 on.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;
  int blocking = 0;
  int cga_cluster_size = INT32_MIN;
  int min_ctas = INT32_MIN;
  int max_ctas = INT32_MIN;
  const char* net_name = nullptr;
  int split_share = INT32_MIN;
  int traffic_class = INT32_MIN;
};
static_assert(sizeof(Config) == 48);

}  // namespace allranks::verify::abi
