#include <mpi.h>
#include "solvers/base.hpp"

using namespace solvers;

void Heat::step(const Settings &settings) {
  auto &cells = grid_.cells();
  int me = 0;
  MPI_Comm_rank(comm_, &me);
  for (int i = 0; i < cells.size(); ++i) cells[i] += settings.rate / 2;
  for (auto &[name, field] : fields(settings)) {
    each(field, [&](auto &cell) { if (me == 0) cell.clear(); });
    if (field.is_shared() && me > 0) {
      CHECK(MPI_Barrier(comm_));
    }
  }
  switch (settings.kind) {
    case 1:
    case Kind::Late:
      MPI_Allreduce(MPI_IN_PLACE, &total_, 1, MPI_DOUBLE, MPI_SUM, comm_);
      break;
    default:
      throw Unknown(settings.kind);
  }
}
