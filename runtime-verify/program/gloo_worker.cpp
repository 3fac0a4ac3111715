// allranks-worker-gloo: one rank on Gloo. A program of its own, because Gloo is a C++ library of the system
// and may end the process that it runs in.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "runtime-verify/backends/gloo/gloo_backend.h"
#include "runtime-verify/worker/worker.h"

namespace {

// Where more is sent than was asked for, Gloo throws in a thread of its own, which nobody can catch: "[enforce fail at ...]
// op.preamble.length <= op.nbytes. 4096 vs 2048". What it means comes on standard error before the process ends.
[[noreturn]] void SayAndAbort() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::exception& error) {
    unsigned long sent = 0, room = 0;
    const std::string_view words = error.what();
    constexpr std::string_view kMark = "op.preamble.length <= op.nbytes. ";
    const size_t at = words.find(kMark);
    const bool is_size = at != std::string_view::npos && std::sscanf(words.data() + at + kMark.size(), "%lu vs %lu", &sent, &room) == 2;
    if (is_size) std::fprintf(stderr, "Gloo refuses: %lu bytes into %lu\n", sent, room);
    else std::fprintf(stderr, "Gloo: %s\n", error.what());
  }
  std::abort();
}

}  // namespace

int main() {
  std::set_terminate(SayAndAbort);
  const auto backend = allranks::verify::MakeGlooBackend();
  const int code = allranks::verify::RunWorker(*backend);
  // Operations that never end still have threads.
  _exit(code);
}
