#include "driver/baseline/git.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

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

// 0, or the number of the error.
int Spawn(std::vector<std::string> words, const std::array<File, 3>& streams, pid_t& child) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 3; ++i) posix_spawn_file_actions_adddup2(&actions, fileno(streams[static_cast<size_t>(i)].get()), i);
  const int error = posix_spawnp(&child, "git", &actions, nullptr, argv.data(), Environment().data());
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

base::Result<std::string> RunGit(const std::string& folder, const std::vector<std::string>& args, const std::string& input) {
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
  if (const int error = Spawn(std::move(words), streams, child); error != 0) {
    return base::Fail("cannot run git: " + std::generic_category().message(error) + "; install git, or leave --diff-base out");
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Contents(streams[1].get());
  return base::Fail("git " + args[0] + " failed: " + FirstLine(Contents(streams[2].get())));
}

}  // namespace allranks::baseline
