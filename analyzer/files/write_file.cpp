#include "analyzer/files/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <random>

#include "analyzer/platform/platform.h"

namespace allranks::files {
namespace {

constexpr mode_t kModeBits = 07777;
// Less what the umask takes.
constexpr mode_t kNewFile = 0666;

struct NewFile {
  int descriptor = -1;
  std::string path;
};

// mkostemp would leave a file that only its owner reads, and what the umask is nobody can ask without setting it.
NewFile MakeBeside(const std::string& path, mode_t mode) {
  constexpr int kMostTries = 100;
  std::random_device random;
  for (int i = 0; i < kMostTries; ++i) {
    NewFile made{.path = path + "." + std::to_string(random()) + ".tmp"};
    made.descriptor = open(made.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (made.descriptor >= 0 || errno != EEXIST) return made;
  }
  return {};
}

// A file that has no name yet: what ends this process ends it too. None where the file system has no such files.
NewFile MakeUnnamed(const std::string& path, mode_t mode) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return {.descriptor = platform::OpenUnnamed(folder, mode), .path = {}};
}

// Names it as MakeBeside does. False: that cannot be done here.
bool NameBeside(const std::string& path, NewFile& made) {
  constexpr int kMostTries = 100;
  std::random_device random;
  for (int i = 0; i < kMostTries; ++i) {
    made.path = path + "." + std::to_string(random()) + ".tmp";
    if (platform::GiveName(made.descriptor, made.path)) return true;
    if (errno != EEXIST) break;
  }
  made.path.clear();
  return false;
}

// What is at the path itself, be it a link.
std::optional<struct stat> StatusOf(const std::string& path) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

int TakeModeAndOwner(int descriptor, const struct stat& from) {
  if (fchmod(descriptor, from.st_mode & kModeBits) != 0) return errno;
  // Only root may give files away; for all others the owner is the same one anyway.
  const bool is_other = from.st_uid != geteuid() || from.st_gid != getegid();
  return is_other && fchown(descriptor, from.st_uid, from.st_gid) != 0 && geteuid() == 0 ? errno : 0;
}

// Text, and mode and owner of the file that it replaces, if there is one.
int Fill(const NewFile& made, std::string_view text, const struct stat* before, Sync sync) {
  int error = WriteAll(made.descriptor, text);
  if (error == 0 && sync == Sync::Yes && fsync(made.descriptor) != 0) error = errno;
  return error == 0 && before != nullptr ? TakeModeAndOwner(made.descriptor, *before) : error;
}

int WriteInPlace(const std::string& path, std::string_view text) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, kNewFile);
  if (descriptor < 0) return errno;
  const int error = WriteAll(descriptor, text);
  return close(descriptor) != 0 && error == 0 ? errno : error;
}

}  // namespace

int WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

int ReplaceWhole(const std::string& path, std::string_view text, Sync sync) {
  const std::optional<struct stat> before = StatusOf(path);
  const bool is_file = before && S_ISREG(before->st_mode);
  // Nobody may read meanwhile what only some may read then.
  const mode_t mode = is_file ? before->st_mode & kNewFile : kNewFile;
  NewFile made = MakeUnnamed(path, mode);
  int error = made.descriptor < 0 ? ENOTSUP : Fill(made, text, is_file ? &*before : nullptr, sync);
  const bool is_named = error == 0 && NameBeside(path, made);
  if (made.descriptor >= 0 && !is_named) close(made.descriptor);
  if (!is_named) {
    made = MakeBeside(path, mode);
    if (made.descriptor < 0) return errno;
    error = Fill(made, text, is_file ? &*before : nullptr, sync);
  }
  if (close(made.descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(made.path.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) unlink(made.path.c_str());
  return error;
}

int WriteTo(const std::string& path, std::string_view text) {
  const std::optional<struct stat> before = StatusOf(path);
  return before && !S_ISREG(before->st_mode) ? WriteInPlace(path, text) : ReplaceWhole(path, text);
}

}  // namespace allranks::files
