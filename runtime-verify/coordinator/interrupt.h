#pragma once

namespace allranks::verify {

// While it lives, Ctrl-C, SIGTERM and SIGHUP do not end the process but become readable: whoever waits can
// end its children first.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  int descriptor() const { return descriptor_; }
  // Whether one of them has come, now or before.
  bool HasCome();

 private:
  int descriptor_ = -1;
  bool has_come_ = false;
};

}  // namespace allranks::verify
