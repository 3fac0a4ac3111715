// The CUDA driver and NCCL: functions from whatever is on the machine at run time.
#pragma once

#include <optional>
#include <string>

#include "runtime-verify/backends/backend.h"
#include "runtime-verify/backends/nccl/abi.h"

namespace allranks::verify {

// Of each: the member, the symbol (the driver's carry their version), the type.
// clang-format off
#define ALLRANKS_CUDA_FUNCTIONS(DO)                                                                        \
  DO(cuInit_, "cuInit", abi::CudaResult(unsigned))                                                         \
  DO(cuDriverGetVersion_, "cuDriverGetVersion", abi::CudaResult(int*))                                     \
  DO(cuDeviceGetCount_, "cuDeviceGetCount", abi::CudaResult(int*))                                         \
  DO(cuDeviceGet_, "cuDeviceGet", abi::CudaResult(abi::Device*, int))                                      \
  DO(cuDeviceGetName_, "cuDeviceGetName", abi::CudaResult(char*, int, abi::Device))                        \
  DO(cuDeviceGetAttribute_, "cuDeviceGetAttribute", abi::CudaResult(int*, int, abi::Device))               \
  DO(cuDevicePrimaryCtxRetain_, "cuDevicePrimaryCtxRetain", abi::CudaResult(abi::Context*, abi::Device))   \
  DO(cuCtxSetCurrent_, "cuCtxSetCurrent", abi::CudaResult(abi::Context))                                   \
  DO(cuMemGetInfo_, "cuMemGetInfo_v2", abi::CudaResult(size_t*, size_t*))                                  \
  DO(cuMemAlloc_, "cuMemAlloc_v2", abi::CudaResult(abi::DevicePointer*, size_t))                           \
  DO(cuMemHostAlloc_, "cuMemHostAlloc", abi::CudaResult(void**, size_t, unsigned))                         \
  DO(cuMemcpyHtoDAsync_, "cuMemcpyHtoDAsync_v2",                                                           \
     abi::CudaResult(abi::DevicePointer, const void*, size_t, abi::Stream))                                \
  DO(cuMemcpyDtoHAsync_, "cuMemcpyDtoHAsync_v2",                                                           \
     abi::CudaResult(void*, abi::DevicePointer, size_t, abi::Stream))                                      \
  DO(cuStreamCreate_, "cuStreamCreate", abi::CudaResult(abi::Stream*, unsigned))                           \
  DO(cuStreamWaitEvent_, "cuStreamWaitEvent", abi::CudaResult(abi::Stream, abi::Event, unsigned))          \
  DO(cuEventCreate_, "cuEventCreate", abi::CudaResult(abi::Event*, unsigned))                              \
  DO(cuEventRecord_, "cuEventRecord", abi::CudaResult(abi::Event, abi::Stream))                            \
  DO(cuEventQuery_, "cuEventQuery", abi::CudaResult(abi::Event))                                           \
  DO(cuGetErrorName_, "cuGetErrorName", abi::CudaResult(abi::CudaResult, const char**))                    \
  DO(cuGetErrorString_, "cuGetErrorString", abi::CudaResult(abi::CudaResult, const char**))

#define ALLRANKS_NCCL_FUNCTIONS(DO)                                                                        \
  DO(ncclGetVersion_, "ncclGetVersion", abi::NcclResult(int*))                                             \
  DO(ncclGetUniqueId_, "ncclGetUniqueId", abi::NcclResult(abi::UniqueId*))                                 \
  DO(ncclCommInitRankConfig_, "ncclCommInitRankConfig",                                                    \
     abi::NcclResult(abi::Comm*, int, abi::UniqueId, int, abi::Config*))                                   \
  DO(ncclCommGetAsyncError_, "ncclCommGetAsyncError", abi::NcclResult(abi::Comm, abi::NcclResult*))        \
  DO(ncclGetErrorString_, "ncclGetErrorString", const char*(abi::NcclResult))                              \
  DO(ncclGetLastError_, "ncclGetLastError", const char*(abi::Comm))                                        \
  DO(ncclAllReduce_, "ncclAllReduce",                                                                      \
     abi::NcclResult(const void*, void*, size_t, abi::NcclType, abi::NcclReduction, abi::Comm, abi::Stream)) \
  DO(ncclBroadcast_, "ncclBroadcast",                                                                      \
     abi::NcclResult(const void*, void*, size_t, abi::NcclType, int, abi::Comm, abi::Stream))              \
  DO(ncclReduce_, "ncclReduce",                                                                            \
     abi::NcclResult(const void*, void*, size_t, abi::NcclType, abi::NcclReduction, int, abi::Comm, abi::Stream)) \
  DO(ncclAllGather_, "ncclAllGather",                                                                      \
     abi::NcclResult(const void*, void*, size_t, abi::NcclType, abi::Comm, abi::Stream))                   \
  DO(ncclReduceScatter_, "ncclReduceScatter",                                                              \
     abi::NcclResult(const void*, void*, size_t, abi::NcclType, abi::NcclReduction, abi::Comm, abi::Stream)) \
  DO(ncclSend_, "ncclSend", abi::NcclResult(const void*, size_t, abi::NcclType, int, abi::Comm, abi::Stream)) \
  DO(ncclRecv_, "ncclRecv", abi::NcclResult(void*, size_t, abi::NcclType, int, abi::Comm, abi::Stream))    \
  DO(ncclGroupStart_, "ncclGroupStart", abi::NcclResult())                                                 \
  DO(ncclGroupEnd_, "ncclGroupEnd", abi::NcclResult())
// clang-format on

// A pointer to a function of the type `Signature`.
template <class Signature>
using Pointer = Signature*;

#define ALLRANKS_MEMBER(member, symbol, ...) Pointer<__VA_ARGS__> member = nullptr;
struct CudaFunctions {
  ALLRANKS_CUDA_FUNCTIONS(ALLRANKS_MEMBER)
};
struct NcclFunctions {
  ALLRANKS_NCCL_FUNCTIONS(ALLRANKS_MEMBER)
  int version = 0;  // 22809
};
#undef ALLRANKS_MEMBER

// Loads the driver and finds that it has a device that can share itself among ranks.
std::optional<Failure> LoadCuda(CudaFunctions* functions);
// `path` is absolute; empty: none was found. NCCL 2.18 or later.
std::optional<Failure> LoadNccl(const std::string& path, NcclFunctions* functions);

std::string VersionText(int nccl_version);

}  // namespace allranks::verify
