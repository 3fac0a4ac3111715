// allranks-worker-gloo: one rank on Gloo. A program of its own, because Gloo is a C++ library of the system
// and may end the process that it runs in.
#include <unistd.h>

#include "runtime-verify/backends/gloo/gloo_backend.h"
#include "runtime-verify/worker/worker.h"

int main() {
  const auto backend = allranks::verify::MakeGlooBackend();
  const int code = allranks::verify::RunWorker(*backend);
  // Operations that never end still have threads.
  _exit(code);
}
