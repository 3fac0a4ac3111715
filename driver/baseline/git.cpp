#include "driver/baseline/git.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>

#include "analyzer/platform/platform.h"

extern char** environ;

namespace allranks::baseline {
namespace {

// A file that vanishes when it is closed: as large as it gets, nobody waits for the other end of a pipe.
using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
File Temporary() { return {std::tmpfile(), std::fclose}; }

// A repository that is checked may be hostile, its own configuration with it: nothing is fetched, by whatever protocol, and
// nobody is asked. Variables, as the configuration cannot override them.
std::vector<char*> Environment() {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, "GIT_", 4) != 0) variables.push_back(*variable);
  }
  static std::array<std::string, 4> own = {"GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0"};
  for (std::string& variable : own) variables.push_back(variable.data());
  variables.push_back(nullptr);
  return variables;
}

// Programs that a repository's configuration may name.
constexpr std::array<const char*, 6> kNoPrograms = {"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat"};

std::string Contents(std::FILE* file) {
  std::string text;
  std::array<char, 65536> buffer{};
  std::rewind(file);
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), file)) text.append(buffer.data(), got);
  return text;
}

std::string FirstLine(std::string text) { return text.substr(0, text.find('\n')); }

using Clock = std::chrono::steady_clock;

void Limit(int what, rlim_t soft) {
  rlimit limit = {};
  getrlimit(what, &limit);
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? soft : std::min(soft, limit.rlim_max);
  setrlimit(what, &limit);
}

struct Program {
  std::vector<char*> arguments;
  std::vector<char*> environment;
};

// Between fork and exec only what is safe after a fork of one thread of several. Packs are mapped to be read, which is no data.
[[noreturn]] void Exec(const Program& git, const std::array<File, 3>& streams, const GitBounds& bounds, int errors) {
  for (int i = 0; i < 3; ++i) dup2(fileno(streams[static_cast<size_t>(i)].get()), i);
  Limit(RLIMIT_FSIZE, bounds.output_bytes);
  Limit(RLIMIT_DATA, bounds.memory_bytes);
  Limit(RLIMIT_CORE, 0);
  environ = const_cast<char**>(git.environment.data());
  execvp("git", git.arguments.data());
  const int error = errno;
  const ssize_t told = write(errors, &error, sizeof error);
  constexpr int kNotStarted = 127;
  _exit(told < 0 ? kNotStarted + 1 : kNotStarted);
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// 0, or the number of the error.
int Start(std::vector<std::string> words, const std::array<File, 3>& streams, const GitBounds& bounds, pid_t& child) {
  const Program git{.arguments = Pointers(words), .environment = Environment()};
  int errors[2];
  if (!platform::OpenPipe(errors)) return errno;
  child = fork();
  if (child == 0) Exec(git, streams, bounds, errors[1]);
  int error = child < 0 ? errno : 0;
  close(errors[1]);
  ssize_t got = 0;
  // The pipe closes when git begins.
  while (child > 0 && (got = read(errors[0], &error, sizeof error)) < 0 && errno == EINTR) continue;
  close(errors[0]);
  if (child > 0 && error != 0) waitpid(child, nullptr, 0);
  return error;
}

// How it ended, or why it was ended.
struct End {
  int status = 0;
  std::string why;  // empty: by itself
};

// Most calls take some milliseconds, and one that takes longer is not asked for so often.
End WaitFor(pid_t child, const GitBounds& bounds) {
  constexpr std::chrono::milliseconds kLongestWait{20};
  const Clock::time_point begin = Clock::now();
  End end;
  for (std::chrono::milliseconds wait{1};; wait = std::min(2 * wait, kLongestWait)) {
    const pid_t done = waitpid(child, &end.status, WNOHANG);
    if (done == child || (done < 0 && errno != EINTR)) return end;
    const bool is_late = Clock::now() - begin > bounds.time;
    if (is_late || (bounds.is_stopped && bounds.is_stopped())) {
      end.why = is_late ? "did not end within " + std::to_string(bounds.time.count()) + " ms" : "was stopped with the run";
      break;
    }
    std::this_thread::sleep_for(wait);
  }
  kill(child, SIGKILL);
  while (waitpid(child, &end.status, 0) < 0 && errno == EINTR) continue;
  return end;
}

std::string WhyFailed(const End& end, const std::string& said, const GitBounds& bounds) {
  if (!end.why.empty()) return end.why;
  if (WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGXFSZ) return "has more to say than " + std::to_string(bounds.output_bytes >> 10) + " KiB";
  if (WIFSIGNALED(end.status)) return std::string("was ended: ") + strsignal(WTERMSIG(end.status));
  return "failed: " + FirstLine(said);
}

}  // namespace

base::Result<std::string> RunGit(const std::string& folder, const std::vector<std::string>& args, const GitBounds& bounds, const std::string& input) {
  const std::array<File, 3> streams = {Temporary(), Temporary(), Temporary()};
  for (const File& stream : streams) {
    if (!stream) return base::Fail("cannot make a temporary file: " + std::generic_category().message(errno));
  }
  std::fwrite(input.data(), 1, input.size(), streams[0].get());
  std::rewind(streams[0].get());
  std::vector<std::string> words = {"git", "-C", folder};
  words.insert(words.end(), kNoPrograms.begin(), kNoPrograms.end());
  words.insert(words.end(), args.begin(), args.end());
  pid_t child = 0;
  if (const int error = Start(std::move(words), streams, bounds, child); error != 0) {
    return base::Fail("cannot run git: " + std::generic_category().message(error) + "; install git, or leave --diff-base out");
  }
  const End end = WaitFor(child, bounds);
  const bool is_done = end.why.empty() && WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0;
  if (is_done) return Contents(streams[1].get());
  return base::Fail("git " + args[0] + " " + WhyFailed(end, Contents(streams[2].get()), bounds));
}

}  // namespace allranks::baseline
