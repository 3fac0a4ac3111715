// How long work may go on, and with how much memory. Work that may take long calls Step again and again; Step throws Cut to
// give up the work. All of it in one thread, but for `IsStopped` and `IsFull`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace allranks::base {

// Why work is given up: somebody stopped the run, the file at hand took too long or too much memory, the run holds too much memory.
enum class CutKind : uint8_t { Stopped, Time, FileMemory, Memory };

// What Step throws.
struct Cut {
  CutKind kind{};
};

// Zero: no bound.
struct Bounds {
  std::chrono::milliseconds per_file{0};
  uint64_t memory_bytes = 0;
  uint64_t memory_per_file = 0;   // what the process may grow by while it is at work on one file, in bytes
  // The share of the memory that may be in use at this stage: those behind it need the rest.
  uint64_t percent = 100;

  Bounds At(uint64_t share) const { return {per_file, memory_bytes, memory_per_file, share}; }
};

class Watch {
 public:
  explicit Watch(Bounds bounds, std::function<bool()> is_stopped = {});

  void Step() {
    // Some ten microseconds apart.
    constexpr uint64_t kBetweenLooks = 256;
    if (++steps_ % kBetweenLooks == 0) Look();
  }
  // How many there were: the same in every run of the same input.
  uint64_t steps() const { return steps_; }

  const Bounds& bounds() const { return bounds_; }
  bool IsStopped() const { return is_stopped_ && is_stopped_(); }
  // Whether the process holds as much memory as it may.
  bool IsFull() const;
  // "memory of more than 100 MiB": what a file comes to that was left out for that.
  std::string FullText() const;
  // The same of a file that took more memory than one file may.
  std::string LargeText() const;

  // While it lives the work is for `file`, a small number; that of the turn around it waits meanwhile. Throws Cut where the
  // time of the file is over already.
  class Turn {
   public:
    Turn(Watch* watch, uint32_t file);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Watch* watch_;
    uint32_t outer_ = 0;
  };

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr uint32_t kNoFile = 0xffffffffu;

  void Look();
  // Ends the turn of one file and begins that of another.
  uint32_t GoOnWith(uint32_t file);
  bool IsLate() const;
  bool IsLarge() const;
  // Throws where the file at hand is over a bound of its own.
  void LookAtFile() const;

  Bounds bounds_;
  std::function<bool()> is_stopped_;
  uint64_t steps_ = 0;
  uint32_t file_ = kNoFile;
  Clock::time_point since_;
  uint64_t memory_before_ = 0;
  std::vector<Clock::duration> spent_;  // by file
  std::vector<uint64_t> grown_by_;      // bytes, by file
  bool is_full_ = false;
};

}  // namespace allranks::base
