#include "runtime-verify/coordinator/interrupt.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <initializer_list>

namespace allranks::verify {
namespace {

sigset_t Interrupts() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  const sigset_t set = Interrupts();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  descriptor_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

InterruptGuard::~InterruptGuard() {
  HasCome();
  close(descriptor_);
  const sigset_t set = Interrupts();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

bool InterruptGuard::HasCome() {
  signalfd_siginfo info;
  while (read(descriptor_, &info, sizeof(info)) == sizeof(info)) has_come_ = true;
  return has_come_;
}

}  // namespace allranks::verify
