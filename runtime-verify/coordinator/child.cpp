#include "runtime-verify/coordinator/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime-verify/worker/protocol.h"

namespace allranks::verify {
namespace {

// Kernel headers may know these while the C library does not.
int OpenPidfd(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }
int SignalPidfd(int pidfd, int signal) {
  return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}

// Reading end first.
bool MakePipe(std::array<int, 2>& ends) { return pipe2(ends.data(), O_CLOEXEC) == 0; }

void SetLimit(int what, rlim_t most) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource>(what), &limit);
  limit.rlim_cur = std::min(limit.rlim_max, most);
  limit.rlim_max = limit.rlim_cur;
  setrlimit(static_cast<__rlimit_resource>(what), &limit);
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Between fork and exec: system calls only.
[[noreturn]] void Become(const ChildOptions& options, char* const* argv, char* const* env, int commands,
                         int events, int words, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have gone before that took hold.
  if (getppid() != parent) _exit(1);
  SetLimit(RLIMIT_CORE, 0);
  SetLimit(RLIMIT_FSIZE, 64u << 20);
  SetLimit(RLIMIT_NOFILE, 4096);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Out of the way of the numbers that they get; the copies are closed by exec.
  const int from = fcntl(commands, F_DUPFD_CLOEXEC, 10), to = fcntl(events, F_DUPFD_CLOEXEC, 10);
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(words, STDERR_FILENO);
  dup2(from, kCommandDescriptor);
  dup2(to, kEventDescriptor);
  for (int descriptor = kEventDescriptor + 1; descriptor < 1024; ++descriptor) close(descriptor);
  execve(options.program.c_str(), argv, env);
  _exit(127);
}

}  // namespace

std::optional<Child> Child::Start(const ChildOptions& options, std::string* error) {
  std::array<int, 2> commands{-1, -1}, events{-1, -1}, words{-1, -1};
  Child child;
  const bool piped = MakePipe(commands) && MakePipe(events) && MakePipe(words);
  child.commands_ = commands[1];
  child.events_ = events[0];
  child.words_ = words[0];
  std::vector<std::string> texts = options.args;
  texts.insert(texts.begin(), options.program);
  const std::vector<char*> argv = Pointers(texts), env = Pointers(options.env);
  const pid_t parent = getpid();
  if (piped) child.pid_ = fork();
  if (child.pid_ == 0) Become(options, argv.data(), env.data(), commands[0], events[1], words[1], parent);
  if (child.pid_ < 0) *error = "cannot start a process: " + std::string(std::strerror(errno));
  for (const int descriptor : {commands[0], events[1], words[1]}) close(descriptor);
  if (child.pid_ < 0) return std::nullopt;
  for (const int descriptor : {child.commands_, child.events_, child.words_})
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
  // Not reaped yet, so the number is still its own.
  child.pidfd_ = OpenPidfd(child.pid_);
  return child;
}

Child::Child(Child&& other) noexcept { *this = std::move(other); }

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(commands_, other.commands_);
  std::swap(events_, other.events_);
  std::swap(words_, other.words_);
  std::swap(is_reaped_, other.is_reaped_);
  std::swap(was_killed_, other.was_killed_);
  std::swap(signal_, other.signal_);
  std::swap(code_, other.code_);
  return *this;
}

Child::~Child() {
  Kill();
  constexpr milliseconds kPatience{1000};
  Reap(kPatience);
  CloseAll();
}

void Child::CloseAll() {
  for (int* descriptor : {&pidfd_, &commands_, &events_, &words_}) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
  }
}

void Child::Kill() {
  if (pid_ < 0 || is_reaped_ || was_killed_) return;
  was_killed_ = true;
  // Without a pidfd (kernels before 5.3) the number is safe as well: nobody else reaps our child.
  if (pidfd_ < 0 || SignalPidfd(pidfd_, SIGKILL) != 0) kill(pid_, SIGKILL);
}

bool Child::Reap(milliseconds limit) {
  if (pid_ < 0 || is_reaped_) return true;
  const Clock::time_point end = Clock::now() + limit;
  constexpr auto kBetween = std::chrono::microseconds(500);
  for (;;) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG) == 0 && info.si_pid == pid_) {
      is_reaped_ = true;
      (info.si_code == CLD_EXITED ? code_ : signal_) = info.si_status;
      return true;
    }
    if (Clock::now() >= end) return false;
    timespec pause{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(kBetween).count()};
    nanosleep(&pause, nullptr);
  }
}

std::string Child::End() const {
  if (!is_reaped_) return "";
  if (signal_ == 0) return "exited with " + std::to_string(code_);
  return "was killed by signal " + std::to_string(signal_) + " (" + strsignal(signal_) + ")";
}

bool Child::WasKilledFromOutside() const {
  if (!is_reaped_ || was_killed_) return false;
  return signal_ == SIGKILL || signal_ == SIGTERM || signal_ == SIGINT || signal_ == SIGHUP;
}

}  // namespace allranks::verify
