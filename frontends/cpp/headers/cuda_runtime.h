// Declarations of the CUDA runtime for machines without the toolkit: what host code of training programs calls.
#ifndef ALLRANKS_CUDA_RUNTIME_H
#define ALLRANKS_CUDA_RUNTIME_H

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <allranks_cuda.h>
#include <cuda_runtime_api.h>

#ifdef __cplusplus
template <class T> cudaError_t cudaMalloc(T **ptr, size_t size) { return cudaMalloc((void **)(void *)ptr, size); }
template <class T> cudaError_t cudaMallocHost(T **ptr, size_t size, unsigned flags = 0) { return cudaMallocHost((void **)(void *)ptr, size); }
template <class T> cudaError_t cudaHostAlloc(T **ptr, size_t size, unsigned flags) { return cudaHostAlloc((void **)(void *)ptr, size, flags); }
template <class T> cudaError_t cudaMallocManaged(T **ptr, size_t size, unsigned flags = 1) { return cudaMallocManaged((void **)(void *)ptr, size, flags); }
template <class T> cudaError_t cudaMallocAsync(T **ptr, size_t size, cudaStream_t stream) { return cudaMallocAsync((void **)(void *)ptr, size, stream); }
template <class T> cudaError_t cudaFuncSetAttribute(T *func, cudaFuncAttribute attr, int value);
template <class T> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attr, T *func);
template <class T> cudaError_t cudaLaunchKernel(T *func, dim3 grid, dim3 block, void **args, size_t shared = 0, cudaStream_t stream = 0);
template <class T> cudaError_t cudaLaunchCooperativeKernel(T *func, dim3 grid, dim3 block, void **args, size_t shared = 0, cudaStream_t stream = 0);
template <class T> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T func, int size, size_t shared);
template <class T> cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T func, size_t shared = 0, int limit = 0);
template <class T> cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t count, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice);
template <class T> cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t count, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost);
#endif
#if defined(__CUDA__)
#include <allranks_cuda_min_max.h>
#endif
#endif
