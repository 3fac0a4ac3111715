#include "driver/cli/interrupt.h"

#include <atomic>
#include <csignal>

namespace allranks::cli {
namespace {

// A handler may touch nothing else.
std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free);

void Note(int signal) { caught = signal; }

void Catch(int signal) {
  struct sigaction before = {};
  if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = Note;
  // The second one does what it does to any program.
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void CatchInterrupts() {
  caught = 0;
  Catch(SIGINT);
  Catch(SIGTERM);
}

bool IsInterrupted() { return caught != 0; }

int InterruptedExitCode() {
  constexpr int kSignalled = 128;
  return kSignalled + caught;
}

}  // namespace allranks::cli
