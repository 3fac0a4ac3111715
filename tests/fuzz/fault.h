// How a fuzz target says that something is wrong: libFuzzer keeps the bytes that made the program abort.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace allranks::tests {

[[noreturn]] inline void Fault(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace allranks::tests
