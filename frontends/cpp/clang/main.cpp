// allranks-clang: reads one translation unit for allranks. Not for people: a request comes in on standard input, the
// answer goes to standard output (exchange.h).
#include <cstdio>
#include <string>

#include "frontends/cpp/clang/read_unit.h"

namespace {

std::string ReadAll(std::FILE* in) {
  std::string bytes;
  char buffer[1 << 16];
  for (size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, in)) > 0;) bytes.append(buffer, count);
  return bytes;
}

}  // namespace

#ifdef __SANITIZE_ADDRESS__
// LLVM's libraries are not built for it: what our code poisons in memory that both manage, they write to; and Clang never
// frees its tree. A fault is to end the process by a signal, as without a sanitizer.
extern "C" const char* __asan_default_options() {
  return "allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0:abort_on_error=1";
}
#endif

int main() {
  using namespace allranks;
  const base::Result<cpp::Request> request = cpp::ReadRequest(ReadAll(stdin));
  if (!request) {
    std::fprintf(stderr, "allranks-clang: %s; `allranks` starts this program by itself\n", request.error().message.c_str());
    return 2;
  }
  const std::string reply = cpp::Write(cpp::ReadUnit(*request));
  const bool written = std::fwrite(reply.data(), 1, reply.size(), stdout) == reply.size() && std::fflush(stdout) == 0;
  return written ? 0 : 2;
}
