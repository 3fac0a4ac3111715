#include <nccl.h>

#define CHECK(call)                                \
  do {                                             \
    ncclResult_t result = call;                    \
    if (result != ncclSuccess) return result;      \
  } while (0)

__global__ void scale(float *data) { data[threadIdx.x] *= 2; }

ncclResult_t step(float *data, int n, int peer, ncclComm_t comm, cudaStream_t stream) {
  scale<<<1, 32, 0, stream>>>(data);
  CHECK(ncclGroupStart());
  for (int i = 0; i < n; i += 2) CHECK(ncclSend(data + i, 2, ncclFloat, peer, comm, stream));
  CHECK(ncclGroupEnd());
  return ncclSuccess;
}
