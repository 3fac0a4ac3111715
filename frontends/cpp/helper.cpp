#include "frontends/cpp/helper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <utility>

#include "analyzer/platform/platform.h"

namespace allranks::cpp {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Close(); }
  int value() const { return value_; }
  bool open() const { return value_ >= 0; }
  void Reset(int value) {
    Close();
    value_ = value;
  }
  int Release() { return std::exchange(value_, -1); }
  void Close() {
    if (value_ >= 0) close(value_);
    value_ = -1;
  }

 private:
  int value_ = -1;
};

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kProgram = "allranks-clang";
constexpr size_t kLongestComplaint = 1 << 16;
// Clang recurses along deeply nested sources.
constexpr rlim_t kStackBytes = rlim_t{256} << 20;
// A busy machine gives the helper a part of the time; by the clock only one that does not get on is ended.
constexpr int kShareOfClock = 4;
// How often it is asked whether the run is stopped.
constexpr int64_t kLookMilliseconds = 50;

struct Pipe {
  Descriptor read;
  Descriptor write;
  bool Open() {
    int ends[2];
    return platform::OpenPipe(ends) && Take(ends);
  }
  // A socket can be told not to raise SIGPIPE where the other side ended before it had read all.
  bool OpenForSending() {
    int ends[2];
    return platform::OpenStream(ends) && Take(ends);
  }

 private:
  bool Take(const int (&ends)[2]) {
    read.Reset(ends[0]);
    write.Reset(ends[1]);
    return true;
  }
};

void Limit(int what, rlim_t soft) {
  rlimit limit = {};
  getrlimit(what, &limit);
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? soft : std::min(soft, limit.rlim_max);
  setrlimit(what, &limit);
}

// What says where headers are. Of the rest of the environment the helper sees what starts it, and nothing that decides what it says.
constexpr const char* kReadVariables[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "COMPILER_PATH", "CLANG_NO_DEFAULT_CONFIG", "SDKROOT"};
constexpr const char* kStartVariables[] = {"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"};

void AddVariables(std::span<const char* const> names, std::vector<std::string>& settings) {
  for (const char* name : names) {
    if (const char* value = std::getenv(name)) settings.push_back(std::string(name) + "=" + value);
  }
}

// As exec takes it.
class Environment {
 public:
  Environment() {
    AddVariables(kReadVariables, settings_);
    AddVariables(kStartVariables, settings_);
    for (std::string& setting : settings_) pointers_.push_back(setting.data());
    pointers_.push_back(nullptr);
  }
  char* const* pointers() const { return pointers_.data(); }

 private:
  std::vector<std::string> settings_;
  std::vector<char*> pointers_;
};

// Between fork and exec only what is safe after a fork of one thread of several.
[[noreturn]] void Exec(const char* program, const Pipe& in, const Pipe& out, const Pipe& complaints,
                       const Environment& environment, const Limits& limits) {
  dup2(in.read.value(), STDIN_FILENO);
  dup2(out.write.value(), STDOUT_FILENO);
  dup2(complaints.write.value(), STDERR_FILENO);
  if (kLimitsMemory) Limit(RLIMIT_AS, limits.memory_bytes);
  Limit(RLIMIT_STACK, kStackBytes);
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_CPU, limits.seconds);
  char* const arguments[] = {const_cast<char*>(program), nullptr};
  execve(program, arguments, environment.pointers());
  constexpr int kNotStarted = 127;
  _exit(kNotStarted);
}

// Feeds and reads a child until it has answered, ends, or time is up.
class Conversation {
 public:
  Conversation(std::string_view question, Descriptor& in, Descriptor& out, Descriptor& complaints, std::string& complaint)
      : left_(question), in_(in), out_(out), complaints_(complaints), complaint_(complaint) {}

  // Whether it answered, or ended, in time and before it was stopped.
  bool Run(Clock::time_point deadline, const std::function<bool()>& is_stopped) {
    while (!HasAnswer() && (out_.open() || complaints_.open())) {
      const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (rest <= 0 || (is_stopped && is_stopped())) return false;
      const int64_t wait = is_stopped ? std::min<int64_t>(rest, kLookMilliseconds) : rest;
      std::array<pollfd, 3> ends = {pollfd{left_.empty() ? -1 : in_.value(), POLLOUT, 0}, pollfd{out_.value(), POLLIN, 0},
                                    pollfd{complaints_.value(), POLLIN, 0}};
      if (poll(ends.data(), ends.size(), static_cast<int>(wait)) < 0 && errno != EINTR) return false;
      if (ends[0].revents != 0) Feed();
      if (ends[1].revents != 0) Drain(out_, &answer_, kLongestFrame);
      if (ends[2].revents != 0) Drain(complaints_, &complaint_, kLongestComplaint);
    }
    return true;
  }

  // Whether all of a frame is there, or what never becomes one of this program.
  bool HasAnswer() const {
    if (answer_.size() < kFrameHead) return false;
    const size_t length = FrameLength(answer_);
    return length > kLongestFrame || answer_.size() >= kFrameHead + length;
  }
  std::string_view answer() const { return std::string_view(answer_).substr(kFrameHead); }

 private:
  void Feed() {
    const ssize_t count = platform::Send(in_.value(), left_.data(), left_.size());
    if (count > 0) left_.remove_prefix(static_cast<size_t>(count));
    const bool failed = count < 0 && errno != EAGAIN && errno != EINTR;
    if (failed) left_ = {};
  }

  static void Drain(Descriptor& from, std::string* to, size_t most) {
    std::array<char, 1 << 16> buffer;
    const ssize_t count = read(from.value(), buffer.data(), buffer.size());
    if (count > 0 && to->size() < most) to->append(buffer.data(), static_cast<size_t>(count));
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) from.Close();
  }

  std::string_view left_;
  Descriptor& in_;
  Descriptor& out_;
  Descriptor& complaints_;
  std::string& complaint_;
  std::string answer_;
};

Reached BoundOf(int status, const std::string& complaint) {
  if (complaint.find("out of memory") != std::string::npos || complaint.find("bad_alloc") != std::string::npos) return Reached::Memory;
  const bool is_late = WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
  return is_late ? Reached::Time : Reached::Nothing;
}

std::string WhatBecame(int status, Reached reached, const Limits& limits) {
  if (reached == Reached::Stop) return "the run was stopped";
  if (reached == Reached::Memory) {
    return "Clang needed more than " + std::to_string(limits.memory_bytes >> 20) +
           " MiB for it; exclude it or include less";
  }
  if (reached == Reached::Time) return "Clang took longer than " + std::to_string(limits.seconds) + " s; exclude it or include less";
  if (WIFSIGNALED(status)) {
    return std::string("Clang crashed (") + strsignal(WTERMSIG(status)) + "); the other files are unharmed";
  }
  return "the helper `allranks-clang` ended with " + std::to_string(WEXITSTATUS(status)) +
         "; reinstall allranks, so that both are of one version";
}

std::string FolderOfThisProgram() {
  const std::string program = platform::ProgramPath();
  return program.substr(0, program.rfind('/') + 1);
}

}  // namespace

base::Result<std::string> FindHelper() {
  const std::string folder = FolderOfThisProgram();
  for (const std::string& candidate : {folder + std::string(kProgram), folder + "../libexec/allranks/" + std::string(kProgram)}) {
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return base::Fail("C, C++ and CUDA are read by the helper program `allranks-clang`, which is not beside this `allranks`; "
                    "build it with LLVM 19 (libclang-19-dev, llvm-19-dev), or exclude these files");
}

std::string HelperIdentity() {
  const base::Result<std::string> program = FindHelper();
  if (!program) return {};
  // Here stands what the linker tells one build from another by.
  constexpr size_t kBegin = size_t{64} << 10;
  std::string begin(kBegin, '\0');
  std::ifstream file(*program, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(file.gcount()));
  struct stat about {};
  if (begin.empty() || stat(program->c_str(), &about) != 0) return {};
  std::vector<std::string> parts = {std::to_string(about.st_size), begin};
  AddVariables(kReadVariables, parts);
  std::string identity;
  for (const std::string& part : parts) identity += part + '\0';
  return identity;
}

class Helpers::Process {
 public:
  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { End(SIGKILL); }

  // An error: why it could not be started.
  std::optional<base::Error> Start(const std::string& program, const Limits& limits) {
    Pipe in, out, complaints;
    if (!in.OpenForSending() || !out.Open() || !complaints.Open()) {
      return base::Error{std::string("no pipe to `allranks-clang` could be opened: ") + std::strerror(errno)};
    }
    const Environment environment;
    child_ = fork();
    if (child_ < 0) return base::Error{std::string("`allranks-clang` could not be started: ") + std::strerror(errno)};
    if (child_ == 0) Exec(program.c_str(), in, out, complaints, environment, limits);
    in_.Reset(in.write.Release());
    out_.Reset(out.read.Release());
    complaints_.Reset(complaints.read.Release());
    for (const int end : {in_.value(), out_.value(), complaints_.value()}) fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK);
    return std::nullopt;
  }

  // Once it has failed, the process is gone.
  base::Result<Reply> Ask(std::string_view question, const Limits& limits, const std::function<bool()>& is_stopped) {
    Conversation conversation(question, in_, out_, complaints_, complaint_);
    const bool in_time = conversation.Run(Clock::now() + kShareOfClock * std::chrono::seconds(limits.seconds), is_stopped);
    if (conversation.HasAnswer()) {
      base::Result<Reply> reply = ReadReply(conversation.answer());
      if (!reply) End(SIGKILL);
      return reply;
    }
    const int status = End(in_time ? 0 : SIGKILL);
    reached_ = !in_time && is_stopped && is_stopped() ? Reached::Stop : BoundOf(status, complaint_);
    return base::Fail(WhatBecame(status, reached_, limits));
  }

  Reached reached() const { return reached_; }

 private:
  // With this signal, or, 0, by itself. How it ended.
  int End(int signal) {
    int status = 0;
    if (child_ <= 0) return status;
    in_.Close();
    if (signal != 0) kill(child_, signal);
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = 0;
    return status;
  }

  pid_t child_ = 0;
  Descriptor in_, out_, complaints_;
  std::string complaint_;
  Reached reached_ = Reached::Nothing;
};

Helpers::Helpers(std::string program, const Limits& limits) : program_(std::move(program)), limits_(limits) {}

Helpers::~Helpers() = default;

std::unique_ptr<Helpers::Process> Helpers::TakeIdle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  std::unique_ptr<Process> process = std::move(idle_.back());
  idle_.pop_back();
  return process;
}

base::Result<Reply> Helpers::Read(const Request& request, const std::function<bool()>& is_stopped, Reached* reached) {
  const std::string question = Framed(Write(request));
  std::unique_ptr<Process> process = TakeIdle();
  for (bool is_used = process != nullptr;; is_used = false) {
    if (!is_used) {
      process = std::make_unique<Process>();
      if (std::optional<base::Error> failure = process->Start(program_, limits_)) return base::Fail(failure->message);
    }
    base::Result<Reply> reply = process->Ask(question, limits_, is_stopped);
    if (reply) {
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(process));
      return reply;
    }
    // Its time is its own; a crash or a lack of memory may have come of what the process had read before.
    const bool is_own = process->reached() == Reached::Time || process->reached() == Reached::Stop;
    if (is_used && !is_own) continue;
    if (reached != nullptr) *reached = process->reached();
    return reply;
  }
}

}  // namespace allranks::cpp
