// Declarations of cuBLAS for machines without it. What is computed is of no interest: arguments may be any.
#ifndef ALLRANKS_CUBLAS_H
#define ALLRANKS_CUBLAS_H

#include <stdint.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <library_types.h>

#ifdef __cplusplus
extern "C" {
#endif
typedef struct cublasContext *cublasHandle_t;
typedef enum { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3,
               CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11,
               CUBLAS_STATUS_EXECUTION_FAILED = 13, CUBLAS_STATUS_INTERNAL_ERROR = 14,
               CUBLAS_STATUS_NOT_SUPPORTED = 15 } cublasStatus_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 } cublasFillMode_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2, CUBLAS_TF32_TENSOR_OP_MATH = 3 } cublasMath_t;
typedef enum { CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_16F = 74, CUBLAS_COMPUTE_32F_FAST_16BF = 75,
               CUBLAS_COMPUTE_32F_FAST_TF32 = 77, CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_32I = 72 } cublasComputeType_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 } cublasGemmAlgo_t;
typedef cudaDataType cublasDataType_t;

cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t size);
const char *cublasGetStatusString(cublasStatus_t status);
const char *cublasGetStatusName(cublasStatus_t status);
#define ALLRANKS_CUBLAS(name) cublasStatus_t name(cublasHandle_t handle, ...);
#define ALLRANKS_CUBLAS_TYPES(name) \
  ALLRANKS_CUBLAS(cublasS##name) ALLRANKS_CUBLAS(cublasD##name) ALLRANKS_CUBLAS(cublasC##name) ALLRANKS_CUBLAS(cublasZ##name)
ALLRANKS_CUBLAS_TYPES(gemm)
ALLRANKS_CUBLAS_TYPES(gemmBatched)
ALLRANKS_CUBLAS_TYPES(gemmStridedBatched)
ALLRANKS_CUBLAS_TYPES(gemv)
ALLRANKS_CUBLAS_TYPES(ger)
ALLRANKS_CUBLAS_TYPES(geam)
ALLRANKS_CUBLAS_TYPES(axpy)
ALLRANKS_CUBLAS_TYPES(scal)
ALLRANKS_CUBLAS_TYPES(copy)
ALLRANKS_CUBLAS_TYPES(swap)
ALLRANKS_CUBLAS_TYPES(dot)
ALLRANKS_CUBLAS_TYPES(nrm2)
ALLRANKS_CUBLAS_TYPES(asum)
ALLRANKS_CUBLAS_TYPES(trsm)
ALLRANKS_CUBLAS_TYPES(trmm)
ALLRANKS_CUBLAS_TYPES(syrk)
ALLRANKS_CUBLAS(cublasHgemm)
ALLRANKS_CUBLAS(cublasHgemmStridedBatched)
ALLRANKS_CUBLAS(cublasGemmEx)
ALLRANKS_CUBLAS(cublasGemmBatchedEx)
ALLRANKS_CUBLAS(cublasGemmStridedBatchedEx)
ALLRANKS_CUBLAS(cublasDotEx)
ALLRANKS_CUBLAS(cublasNrm2Ex)
ALLRANKS_CUBLAS(cublasAxpyEx)
ALLRANKS_CUBLAS(cublasIsamax)
#undef ALLRANKS_CUBLAS_TYPES
#undef ALLRANKS_CUBLAS
#ifdef __cplusplus
}
#endif
#endif
