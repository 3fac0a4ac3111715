#ifndef ALLRANKS_CUDA_FP16_H
#define ALLRANKS_CUDA_FP16_H

#include <allranks_cuda.h>

#ifdef __cplusplus
// A number that converts to and from others, as the toolkit's own do.
#define ALLRANKS_SHORT_FLOAT(name)                                   \
  struct alignas(2) name {                                           \
    unsigned short bits;                                             \
    name() = default;                                                \
    __host__ __device__ name(float) : bits(0) {}                     \
    __host__ __device__ operator float() const { return 0; }         \
  };                                                                 \
  struct name##2_pair { name x, y; };
ALLRANKS_SHORT_FLOAT(__half)
typedef __half half;
typedef __half2_pair half2;
typedef __half2_pair __half2;
__host__ __device__ inline float __half2float(__half value) { return value; }
__host__ __device__ inline __half __float2half(float value) { return value; }
__host__ __device__ inline __half __float2half_rn(float value) { return value; }
#endif
#endif
