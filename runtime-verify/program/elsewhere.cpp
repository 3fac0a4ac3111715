// `allranks verify` on systems that it has no ranks for.
#include <cstdio>

#include "runtime-verify/program/verify.h"

namespace allranks::verify {
namespace {

constexpr const char* kOnlyLinux = "`allranks verify` runs ranks on Linux only; run it on the machine that has the GPUs\n";
constexpr int kUnavailable = 4;

}  // namespace

std::string_view VerifyHelp() { return kOnlyLinux; }

int RunVerify(int, const char* const*, std::string_view) {
  std::fprintf(stderr, "allranks: error: %s", kOnlyLinux);
  return kUnavailable;
}

int RunNcclWorker() { return kUnavailable; }

}  // namespace allranks::verify
