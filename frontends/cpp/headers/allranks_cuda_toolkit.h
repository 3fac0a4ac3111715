// Read before a CUDA file where the toolkit's own headers are used: what they and programs need of a compiler that
// Clang 19 does not declare.
#ifndef ALLRANKS_CUDA_TOOLKIT_H
#define ALLRANKS_CUDA_TOOLKIT_H

// Clang leaves it empty; NCCL's device headers test its value, as nvcc sets it.
#undef __CUDACC__
#define __CUDACC__ 1

// What nvcc brings with every file, after Clang has put its own declarations for the device into place.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Loads and stores with a hint for the caches, of any type.
template <class T> __device__ T __ldcg(const T *address);
template <class T> __device__ T __ldca(const T *address);
template <class T> __device__ T __ldcs(const T *address);
template <class T> __device__ T __ldlu(const T *address);
template <class T> __device__ T __ldcv(const T *address);
template <class T> __device__ void __stwb(T *address, T value);
template <class T> __device__ void __stcg(T *address, T value);
template <class T> __device__ void __stcs(T *address, T value);
template <class T> __device__ void __stwt(T *address, T value);

#include <allranks_cuda_min_max.h>

#endif
