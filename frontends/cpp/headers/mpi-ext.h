// Extensions of Open MPI.
#include <mpi.h>

#define MPIX_CUDA_AWARE_SUPPORT 1

#ifdef __cplusplus
extern "C" {
#endif
int MPIX_Query_cuda_support(void);
#ifdef __cplusplus
}
#endif
