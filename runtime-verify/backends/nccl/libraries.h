// The CUDA driver and NCCL: types from their headers, functions from whatever is on the machine at run time.
#pragma once

#include <cuda.h>
#include <nccl.h>

#include <optional>
#include <string>

#include "runtime-verify/backends/backend.h"

namespace allranks::verify {

// Of each a pointer `cuInit`, ... named and typed like the function. cuda.h renames some to newer versions
// (_v2); the macros below are expanded, so that the newer one is looked up.
// clang-format off
#define ALLRANKS_CUDA_FUNCTIONS(DO)                                                              \
  DO(cuInit) DO(cuDriverGetVersion) DO(cuDeviceGetCount) DO(cuDeviceGet) DO(cuDeviceGetName)     \
  DO(cuDeviceGetAttribute) DO(cuDevicePrimaryCtxRetain) DO(cuCtxSetCurrent) DO(cuMemGetInfo)     \
  DO(cuMemAlloc) DO(cuMemHostAlloc) DO(cuMemcpyHtoDAsync) DO(cuMemcpyDtoHAsync)                  \
  DO(cuStreamCreate) DO(cuStreamWaitEvent) DO(cuEventCreate) DO(cuEventRecord) DO(cuEventQuery)  \
  DO(cuGetErrorName) DO(cuGetErrorString)

#define ALLRANKS_NCCL_FUNCTIONS(DO)                                                              \
  DO(ncclGetVersion) DO(ncclGetUniqueId) DO(ncclCommInitRankConfig) DO(ncclCommGetAsyncError)    \
  DO(ncclGetErrorString) DO(ncclGetLastError) DO(ncclAllReduce) DO(ncclBroadcast)                \
  DO(ncclReduce) DO(ncclAllGather) DO(ncclReduceScatter) DO(ncclSend) DO(ncclRecv)               \
  DO(ncclGroupStart) DO(ncclGroupEnd)
// clang-format on

struct CudaFunctions {
#define ALLRANKS_MEMBER(name) decltype(&::name) name##_ = nullptr;
  ALLRANKS_CUDA_FUNCTIONS(ALLRANKS_MEMBER)
};
struct NcclFunctions {
  ALLRANKS_NCCL_FUNCTIONS(ALLRANKS_MEMBER)
#undef ALLRANKS_MEMBER
  int version = 0;  // 22809
};

// Loads the driver and finds that it has a device that can share itself among ranks.
std::optional<Failure> LoadCuda(CudaFunctions* functions);
// `path` is absolute; empty: none was found. NCCL 2.18 or later.
std::optional<Failure> LoadNccl(const std::string& path, NcclFunctions* functions);

std::string VersionText(int nccl_version);

}  // namespace allranks::verify
