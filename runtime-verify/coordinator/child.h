// A process of our own: started with nothing of ours but three pipes, ended through its pidfd, never by
// number.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace allranks::verify {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct ChildOptions {
  std::string program;            // absolute path
  std::vector<std::string> args;  // without the program's name
  std::vector<std::string> env;   // all of it: "NAME=value"
};

class Child {
 public:
  // Starts it; on failure `error` says why. It gets a process group of its own, so that a Ctrl-C does not
  // reach it, and dies with the thread that started it.
  static std::optional<Child> Start(const ChildOptions& options, std::string* error);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  pid_t pid() const { return pid_; }
  // Our ends of its descriptors 3 and 4 and of its standard error. None of them blocks.
  int commands() const { return commands_; }
  int events() const { return events_; }
  int words() const { return words_; }

  void Kill();
  // True once it is gone and reaped, waiting up to `limit`.
  bool Reap(milliseconds limit);
  // "was killed by signal 6 (Aborted)", "exited with 3"; empty while it runs.
  std::string End() const;
  // Ended by a signal that nobody here sent and that no program's own fault raises: by a person, the kernel out
  // of memory, a job scheduler.
  bool WasKilledFromOutside() const;

 private:
  Child() = default;
  void CloseAll();

  pid_t pid_ = -1;
  int pidfd_ = -1, commands_ = -1, events_ = -1, words_ = -1;
  bool is_reaped_ = false, was_killed_ = false;
  int signal_ = 0, code_ = 0;
};

}  // namespace allranks::verify
