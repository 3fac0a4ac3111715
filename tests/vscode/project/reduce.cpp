#include <mpi.h>

void average(double* values, int count, int size) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Bcast(values, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
