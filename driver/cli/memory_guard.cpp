#include "driver/cli/memory_guard.h"

#include <unistd.h>

#include <chrono>
#include <string>

#include "analyzer/platform/platform.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/terminal.h"

namespace allranks::cli {
namespace {

std::mutex writing;

// A program that touches new memory as quickly as it can comes by some megabytes meanwhile.
constexpr std::chrono::milliseconds kBetweenLooks{3};
constexpr uint64_t kMebibyte = uint64_t{1} << 20;
// What it may take above the limit before it is ended.
constexpr uint64_t kPercentAbove = 5;

}  // namespace

MemoryGuard::Writing::Writing() : lock_(writing) {}

MemoryGuard::MemoryGuard(uint64_t most_mebibytes) {
  if (most_mebibytes > 0) thread_ = std::thread([this, most_mebibytes] { Watch(most_mebibytes); });
}

MemoryGuard::~MemoryGuard() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void MemoryGuard::Watch(uint64_t most_mebibytes) {
  const uint64_t most = most_mebibytes * kMebibyte / 100 * (100 + kPercentAbove);
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kBetweenLooks, [this] { return is_over_; })) {
    if (platform::MemoryNow() <= most) continue;
    const Writing until_all_is_written;
    PrintError("--max-memory " + std::to_string(most_mebibytes) + ": this run needs more; check fewer files at once");
    // Whatever is at work would go on to take memory while it is asked to end.
    _exit(kExitError);
  }
}

}  // namespace allranks::cli
