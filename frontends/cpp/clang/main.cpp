// allranks-clang: reads translation units for allranks, one after the other. Not for people: requests come in on standard input,
// the answers go to standard output (exchange.h).
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "analyzer/platform/platform.h"
#include "frontends/cpp/clang/read_unit.h"

namespace {

using namespace allranks;

// Nothing: the input is at its end, or what comes is no frame.
std::optional<std::string> ReadFrame(std::FILE* in) {
  std::string bytes(cpp::kFrameHead, '\0');
  if (std::fread(bytes.data(), 1, bytes.size(), in) != bytes.size()) return std::nullopt;
  const size_t length = cpp::FrameLength(bytes);
  if (length > cpp::kLongestFrame) return std::nullopt;
  bytes.resize(length);
  if (std::fread(bytes.data(), 1, length, in) != length) return std::nullopt;
  return bytes;
}

bool WriteFrame(std::string_view bytes, std::FILE* out) {
  const std::string frame = cpp::Framed(bytes);
  return std::fwrite(frame.data(), 1, frame.size(), out) == frame.size() && std::fflush(out) == 0;
}

rlimit LimitOf(decltype(RLIMIT_CPU) what) {
  rlimit limit = {};
  getrlimit(what, &limit);
  return limit;
}

// Every file may take as much processor time as the process was started with for its first.
class TimeOfFile {
 public:
  TimeOfFile() : limit_(LimitOf(RLIMIT_CPU)), seconds_(limit_.rlim_cur) {}
  void BeginNext() {
    if (seconds_ == RLIM_INFINITY) return;
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    // Parts of a second are granted.
    const auto used = static_cast<rlim_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + 1);
    limit_.rlim_cur = std::min(used + seconds_, limit_.rlim_max);
    setrlimit(RLIMIT_CPU, &limit_);
  }

 private:
  rlimit limit_;
  rlim_t seconds_;
};

// What large files leave behind is given back to the system, and the next file has the whole of what a file may take.
bool IsSpent() {
  constexpr uint64_t kMost = uint64_t{512} << 20;
  constexpr uint64_t kPartOfLimit = 4;
  const rlim_t limit = LimitOf(RLIMIT_AS).rlim_cur;
  return platform::MemoryNow() > (limit == RLIM_INFINITY ? kMost : std::min(kMost, uint64_t{limit} / kPartOfLimit));
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
  TimeOfFile time;
  bool any = false;
  for (; const std::optional<std::string> bytes = ReadFrame(stdin); any = true) {
    if (any) time.BeginNext();
    const base::Result<cpp::Request> request = cpp::ReadRequest(*bytes);
    if (!request) break;
    if (!WriteFrame(cpp::Write(cpp::ReadUnit(*request)), stdout)) return 2;
    if (IsSpent()) return 0;
  }
  if (any && std::feof(stdin) != 0) return 0;
  std::fputs("allranks-clang: this is no request of this version of allranks; `allranks` starts this program by itself\n", stderr);
  return 2;
}
