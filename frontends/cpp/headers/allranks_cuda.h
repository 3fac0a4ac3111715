// The words of CUDA that are no declarations of the runtime: attributes, vector types, and what device code calls.
#ifndef ALLRANKS_CUDA_H
#define ALLRANKS_CUDA_H

#define CUDART_VERSION 13000
#define CUDA_VERSION 13000

#ifdef __CUDA__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))

#define ALLRANKS_VECTOR2(name, type) typedef struct name { type x, y; } name;
#define ALLRANKS_VECTOR3(name, type) typedef struct name { type x, y, z; } name;
#define ALLRANKS_VECTOR4(name, type) typedef struct name { type x, y, z, w; } name;
#define ALLRANKS_VECTORS(name, type) \
  typedef struct name##1 { type x; } name##1; ALLRANKS_VECTOR2(name##2, type) ALLRANKS_VECTOR3(name##3, type) ALLRANKS_VECTOR4(name##4, type)
ALLRANKS_VECTORS(char, signed char)
ALLRANKS_VECTORS(uchar, unsigned char)
ALLRANKS_VECTORS(short, short)
ALLRANKS_VECTORS(ushort, unsigned short)
ALLRANKS_VECTORS(int, int)
ALLRANKS_VECTORS(uint, unsigned int)
ALLRANKS_VECTORS(long, long)
ALLRANKS_VECTORS(ulong, unsigned long)
ALLRANKS_VECTORS(longlong, long long)
ALLRANKS_VECTORS(ulonglong, unsigned long long)
ALLRANKS_VECTORS(float, float)
ALLRANKS_VECTORS(double, double)

#ifdef __cplusplus
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
#else
typedef struct dim3 { unsigned x, y, z; } dim3;
#endif

#ifdef __CUDA__
// A kernel launch sets these up.
extern "C" int cudaConfigureCall(dim3 grid, dim3 block, unsigned long shared = 0, void *stream = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, unsigned long shared = 0, void *stream = 0);
extern __device__ const uint3 threadIdx, blockIdx;
extern __device__ const dim3 blockDim, gridDim;
extern __device__ const int warpSize;

__device__ void __syncthreads();
__device__ void __syncwarp(unsigned mask = 0xffffffff);
__device__ void __threadfence();
__device__ void __threadfence_system();
__device__ void __threadfence_block();
__device__ void __nanosleep(unsigned ns);
__device__ long long clock64();
__device__ void __trap();
__device__ unsigned __activemask();
__device__ int __any_sync(unsigned mask, int predicate);
__device__ int __all_sync(unsigned mask, int predicate);
__device__ unsigned __ballot_sync(unsigned mask, int predicate);
template <class T> __device__ T __shfl_sync(unsigned mask, T value, int lane, int width = 32);
template <class T> __device__ T __shfl_xor_sync(unsigned mask, T value, int lane, int width = 32);
template <class T> __device__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T> __device__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T, class U> __device__ T atomicAdd(T *address, U value);
template <class T, class U> __device__ T atomicMax(T *address, U value);
template <class T, class U> __device__ T atomicMin(T *address, U value);
template <class T, class U> __device__ T atomicExch(T *address, U value);
template <class T, class U, class V> __device__ T atomicCAS(T *address, U compare, V value);
template <class T> __device__ T __ldg(const T *address);
template <class T> __device__ T __ldcs(const T *address);
template <class T> __device__ T __ldcg(const T *address);
template <class T, class U> __device__ void __stcs(T *address, U value);
template <class T, class U> __device__ void __stcg(T *address, U value);
#endif

#endif
