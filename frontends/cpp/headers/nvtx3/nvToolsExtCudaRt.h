#ifndef ALLRANKS_NVTX_CUDART_H
#define ALLRANKS_NVTX_CUDART_H
#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>
#ifdef __cplusplus
extern "C" {
#endif
void nvtxNameCudaDeviceA(int device, const char *name);
void nvtxNameCudaStreamA(cudaStream_t stream, const char *name);
void nvtxNameCudaEventA(cudaEvent_t event, const char *name);
#ifdef __cplusplus
}
#endif
#endif
