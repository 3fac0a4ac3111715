#ifndef ALLRANKS_CUDA_FP8_H
#define ALLRANKS_CUDA_FP8_H

#include <cuda_fp16.h>

#ifdef __cplusplus
ALLRANKS_SHORT_FLOAT(__nv_fp8_e4m3)
ALLRANKS_SHORT_FLOAT(__nv_fp8_e5m2)
#endif
#endif
