// --max-memory as a promise: stages stop at shares of it, but tables, findings and reports of a large project may take more than these
// leave. Before the process holds a tenth more than the limit, it says so and ends with exit code 2.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace allranks::cli {

class MemoryGuard {
 public:
  // In MiB; 0: no limit.
  explicit MemoryGuard(uint64_t most_mebibytes);
  ~MemoryGuard();
  MemoryGuard(const MemoryGuard&) = delete;
  MemoryGuard& operator=(const MemoryGuard&) = delete;

  // While one lives the process is not ended: what is written then is written to its end.
  class Writing {
   public:
    Writing();

   private:
    std::unique_lock<std::mutex> lock_;
  };

 private:
  void Watch(uint64_t most_mebibytes);

  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace allranks::cli
