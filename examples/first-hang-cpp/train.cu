// Data-parallel training by hand: MPI starts the ranks, NCCL sums the gradients. Two mistakes hang it.
#include <cstdio>

#include <cuda_runtime.h>
#include <mpi.h>
#include <nccl.h>

constexpr int kParameters = 1 << 20;

float Loss(const float* gradients, ncclComm_t comm, cudaStream_t stream) {
  float* sum;
  cudaMalloc(&sum, sizeof(float));
  ncclAllReduce(gradients, sum, 1, ncclFloat, ncclSum, comm, stream);
  float loss = 0;
  cudaMemcpyAsync(&loss, sum, sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  cudaFree(sum);
  return loss;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  // The rank counts all processes of the job, not those of this node: the second node has no device 8.
  cudaSetDevice(rank);

  ncclUniqueId id;
  if (rank == 0) ncclGetUniqueId(&id);
  MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, MPI_COMM_WORLD);
  ncclComm_t comm;
  ncclCommInitRank(&comm, size, id, rank);

  cudaStream_t stream;
  cudaStreamCreate(&stream);
  float* gradients;
  cudaMalloc(&gradients, kParameters * sizeof(float));

  for (int step = 0; step < 100; ++step) {
    ncclAllReduce(gradients, gradients, kParameters, ncclFloat, ncclSum, comm, stream);
    // Printing is for one rank, but Loss() reduces: the others never come.
    if (rank == 0 && step % 10 == 0) std::printf("step %d loss %f\n", step, Loss(gradients, comm, stream));
  }

  cudaFree(gradients);
  ncclCommDestroy(comm);
  MPI_Finalize();
  return 0;
}
