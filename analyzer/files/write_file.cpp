#include "analyzer/files/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>
#include <random>
#include <thread>

#include "analyzer/platform/platform.h"

namespace allranks::files {
namespace {

constexpr mode_t kModeBits = 07777;

// A file that is written; without a name, it is gone with its descriptor.
struct NewFile {
  int descriptor = -1;
  std::string name;
};

std::string NameBeside(const std::string& name) {
  std::random_device random;
  return name + "." + std::to_string(random()) + ".tmp";
}

constexpr int kMostTries = 100;

// mkostemp would leave a file that only its owner reads, and what the umask is nobody can ask without setting it.
NewFile MakeBeside(const Folder& folder, const std::string& name, mode_t mode) {
  for (int i = 0; i < kMostTries; ++i) {
    NewFile made{.name = NameBeside(name)};
    made.descriptor = openat(folder.descriptor(), made.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (made.descriptor >= 0 || errno != EEXIST) return made;
  }
  return {};
}

// Names it as MakeBeside does. False: that cannot be done here.
bool GiveNameBeside(const Folder& folder, const std::string& name, NewFile& made) {
  for (int i = 0; i < kMostTries; ++i) {
    made.name = NameBeside(name);
    if (platform::GiveName(made.descriptor, folder.descriptor(), made.name)) return true;
    if (errno != EEXIST) break;
  }
  made.name.clear();
  return false;
}

// What is there itself, be it a link.
std::optional<struct stat> StatusOf(int folder, const std::string& name) {
  struct stat status = {};
  if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
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

// A pipe that nobody reads would be waited for without end. Who starts the reader beside us has it open soon.
int OpenToWrite(const std::string& path) {
  constexpr int kMostWaits = 200;
  constexpr std::chrono::milliseconds kWait{10};
  for (int i = 0; i < kMostWaits; ++i) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, kNewFile);
    if (descriptor >= 0 || errno != ENXIO) return descriptor;
    std::this_thread::sleep_for(kWait);
  }
  errno = ENXIO;
  return -1;
}

int WriteInPlace(const std::string& path, std::string_view text) {
  const int descriptor = OpenToWrite(path);
  if (descriptor < 0) return errno;
  // One that reads slowly is waited for.
  const int flags = fcntl(descriptor, F_GETFL);
  int error = flags < 0 || fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) < 0 ? errno : WriteAll(descriptor, text);
  if (close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

// `/dev/stdout` is a link to a file that somebody holds open.
bool IsOfSystem(std::string_view path) { return path.starts_with("/dev/") || path.starts_with("/proc/"); }

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

int ReplaceIn(const Folder& folder, const std::string& name, std::string_view text, Sync sync, mode_t new_mode) {
  if (folder.error() != 0) return folder.error();
  const std::optional<struct stat> before = StatusOf(folder.descriptor(), name);
  const bool is_file = before && S_ISREG(before->st_mode);
  // Nobody may read meanwhile what only some may read then.
  const mode_t mode = is_file ? before->st_mode & kNewFile : new_mode;
  NewFile made{.descriptor = platform::OpenUnnamed(folder.descriptor(), mode), .name = {}};
  int error = made.descriptor < 0 ? ENOTSUP : Fill(made, text, is_file ? &*before : nullptr, sync);
  const bool is_named = error == 0 && GiveNameBeside(folder, name, made);
  if (made.descriptor >= 0 && !is_named) close(made.descriptor);
  if (!is_named) {
    made = MakeBeside(folder, name, mode);
    if (made.descriptor < 0) return errno;
    error = Fill(made, text, is_file ? &*before : nullptr, sync);
  }
  if (close(made.descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && renameat(folder.descriptor(), made.name.c_str(), folder.descriptor(), name.c_str()) != 0) error = errno;
  if (error != 0) unlinkat(folder.descriptor(), made.name.c_str(), 0);
  return error;
}

int ReplaceWhole(const std::string& path, std::string_view text, Sync sync, mode_t new_mode) {
  const size_t slash = path.rfind('/');
  const Folder folder(slash == std::string::npos ? "." : path.substr(0, slash + 1));
  return ReplaceIn(folder, path.substr(slash + 1), text, sync, new_mode);
}

int WriteTo(const std::string& path, std::string_view text, const std::string& inside) {
  const Place place = PlaceBelow(!inside.empty() && LiesBelow(inside, path) ? inside : "/", path);
  if (place.folder.error() != 0) return place.folder.error();
  struct stat there = {};
  const bool is_special = stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode);
  return is_special || IsOfSystem(path) ? WriteInPlace(path, text) : ReplaceIn(place.folder, place.name, text);
}

}  // namespace allranks::files
