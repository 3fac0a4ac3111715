// trace: main
#include <mpi.h>

static void setup(int *rank, int *size) {
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  setup(&rank, &size);
  double sum = 0, mine = rank < size ? 1.0 : 2.0;
  if (rank == 0 || !size) MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  goto done;
done:
  return MPI_Finalize();
}
