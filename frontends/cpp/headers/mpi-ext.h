// Extensions of Open MPI.
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif
int MPIX_Query_cuda_support(void);
#ifdef __cplusplus
}
#endif
