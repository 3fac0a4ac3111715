// Starts `allranks-clang` and holds it to its limits. One process reads one translation unit after the other: to start Clang costs
// as much as to read a small file. What happens in Clang costs the file that is being read, and what comes of a file does not
// depend on those that the process read before: where it fails in a process that has read others, a new one reads it again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "analyzer/base/result.h"
#include "frontends/cpp/exchange.h"

namespace allranks::cpp {

// What one translation unit may cost. Beyond it the file is given up, and only that file.
struct Limits {
  uint32_t seconds = 60;  // of processor time: a machine that does other work as well gives up no file for it
  uint64_t memory_bytes = uint64_t{6} << 30;  // of address space: a file with all of PyTorch's headers takes 0.7 GiB
};

// Whether `memory_bytes` is enforced: a sanitizer reserves more address space than any limit would leave.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsMemory = false;
#else
constexpr bool kLimitsMemory = true;
#endif

// What of that a file reached, or that somebody ended the run.
enum class Reached : uint8_t { Nothing, Time, Memory, Stop };

// The helper beside this program, or where an installation puts it (../libexec/allranks). An error says how to get it.
[[nodiscard]] base::Result<std::string> FindHelper();

// Which build of the helper there is, and what of the environment reaches it: besides the request and the disk nothing decides what
// it says. Empty: there is no helper.
std::string HelperIdentity();

// The processes of one run: no more than threads that read at once.
class Helpers {
 public:
  Helpers(std::string program, const Limits& limits);
  ~Helpers();

  // Any thread. An error is one line on what became of the file: crashed, too slow, too large; `reached` gets what it came to.
  // `is_stopped` is asked again and again meanwhile; none: nobody stops.
  [[nodiscard]] base::Result<Reply> Read(const Request& request, const std::function<bool()>& is_stopped = {}, Reached* reached = nullptr);

 private:
  class Process;
  std::unique_ptr<Process> TakeIdle();

  std::string program_;
  Limits limits_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Process>> idle_;
};

}  // namespace allranks::cpp
