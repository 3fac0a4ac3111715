#ifndef ALLRANKS_CUDA_BF16_H
#define ALLRANKS_CUDA_BF16_H

#include <cuda_fp16.h>

#ifdef __cplusplus
ALLRANKS_SHORT_FLOAT(__nv_bfloat16)
typedef __nv_bfloat162_pair __nv_bfloat162;
typedef __nv_bfloat16 nv_bfloat16;
__host__ __device__ inline float __bfloat162float(__nv_bfloat16 value) { return value; }
__host__ __device__ inline __nv_bfloat16 __float2bfloat16(float value) { return value; }
__host__ __device__ inline __nv_bfloat16 __float2bfloat16_rn(float value) { return value; }
#endif
#endif
