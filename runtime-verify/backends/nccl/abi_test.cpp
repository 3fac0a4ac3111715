// The types declared in abi.h against the headers, where these are installed.
#include "runtime-verify/backends/nccl/abi.h"

#include <gtest/gtest.h>

#if __has_include(<nccl.h>) && __has_include(<cuda.h>) && __has_include(<cuda_runtime.h>)
#include <cuda.h>
#include <nccl.h>

namespace allranks::verify::abi {
namespace {

static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId));
static_assert(sizeof(DevicePointer) == sizeof(CUdeviceptr));
static_assert(kCudaStubLibrary == CUDA_ERROR_STUB_LIBRARY && kCudaNoDevice == CUDA_ERROR_NO_DEVICE &&
              kCudaNotReady == CUDA_ERROR_NOT_READY && kCudaDriverMismatch == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
static_assert(kStreamNonBlocking == CU_STREAM_NON_BLOCKING && kEventDisableTiming == CU_EVENT_DISABLE_TIMING);
static_assert(kAttributeComputeMode == CU_DEVICE_ATTRIBUTE_COMPUTE_MODE &&
              kAttributeCapabilityMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR &&
              kAttributeCapabilityMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(kComputeModeProhibited == CU_COMPUTEMODE_PROHIBITED && kComputeModeExclusive == CU_COMPUTEMODE_EXCLUSIVE_PROCESS);
static_assert(int{kNcclInProgress} == int{ncclInProgress} && int{kUint8} == int{ncclUint8} && int{kInt32} == int{ncclInt32} && int{kInt64} == int{ncclInt64} &&
              int{kFloat16} == int{ncclFloat16} && int{kFloat32} == int{ncclFloat32} && int{kFloat64} == int{ncclFloat64} && int{kBfloat16} == int{ncclBfloat16});
static_assert(int{kSum} == int{ncclSum} && int{kProd} == int{ncclProd} && int{kMax} == int{ncclMax} && int{kMin} == int{ncclMin} && int{kAvg} == int{ncclAvg});
static_assert(offsetof(Config, blocking) == offsetof(ncclConfig_t, blocking) && offsetof(Config, net_name) == offsetof(ncclConfig_t, netName) &&
              offsetof(Config, split_share) == offsetof(ncclConfig_t, splitShare));

TEST(AbiTest, TheHeadersAreTheSame) {
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  const Config ours;
  EXPECT_EQ(ours.magic, theirs.magic);
  EXPECT_EQ(ours.cga_cluster_size, theirs.cgaClusterSize);
  EXPECT_LE(ours.size, theirs.size);
}

}  // namespace
}  // namespace allranks::verify::abi
#else
TEST(AbiTest, TheHeadersAreTheSame) { GTEST_SKIP() << "the headers of CUDA and NCCL are not installed"; }
#endif
