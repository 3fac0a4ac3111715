// trace: run
#include <functional>
#include <mpi.h>

class Scope {
 public:
  explicit Scope(MPI_Comm comm) : comm_(comm) { MPI_Barrier(comm_); }
  ~Scope() { MPI_Barrier(comm_); }
  virtual int rank() const;

 private:
  MPI_Comm comm_;
};

int Scope::rank() const {
  int r;
  MPI_Comm_rank(comm_, &r);
  return r;
}

template <class T>
T twice(T x) {
  return x + x;
}

int run(MPI_Comm comm, const int (&kinds)[3]) {
  Scope scope(comm);
  const std::function<int(int)> next = [&](int n) { return n + scope.rank(); };
  for (int kind : kinds) {
    switch (kind) {
      case 0:
        MPI_Barrier(comm);
      case 1:
        return next(twice(kind));
      default:
        break;
    }
  }
  try {
    if (kinds[0] < 0) throw 1;
  } catch (int) {
    return -1;
  }
  return 0;
}
