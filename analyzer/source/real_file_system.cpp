#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "analyzer/source/file_system.h"

namespace allranks::source {
namespace {

// The smallest buffer for files whose size the system does not know, such as those of /proc.
constexpr size_t kSmallestBuffer = 4096;
// The largest index of a repository and the largest report are far below it. A file with holes is of any size for nothing.
constexpr off_t kLargestFile = off_t{256} << 20;

tl::unexpected<base::Error> SystemError(const std::string& path, const char* what, int code) {
  return base::Fail(path + ": " + what + ": " + std::generic_category().message(code));
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

EntryKind KindOfMode(mode_t mode) {
  if (S_ISREG(mode)) return EntryKind::File;
  if (S_ISDIR(mode)) return EntryKind::Directory;
  return EntryKind::Other;
}

// Reads to the end, however much the file grows or shrinks meanwhile.
base::Result<std::string> ReadAll(const std::string& path, int descriptor, size_t expected) {
  std::string bytes(std::max(expected + 1, kSmallestBuffer), '\0');
  size_t used = 0;
  for (;;) {
    if (used == bytes.size()) bytes.resize(bytes.size() * 2);
    const size_t room = bytes.size() - used;
    const ssize_t got = read(descriptor, bytes.data() + used, room);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(path, "cannot read", errno);
    used += static_cast<size_t>(got);
    // Of a regular file less is read only at its end.
    if (static_cast<size_t>(got) < room) break;
  }
  bytes.resize(used);
  return bytes;
}

DirectoryEntry EntryOf(DIR* directory, const dirent& raw) {
  DirectoryEntry entry = {.name = raw.d_name};
  entry.is_symlink = raw.d_type == DT_LNK;
  if (raw.d_type == DT_REG) entry.kind = EntryKind::File;
  if (raw.d_type == DT_DIR) entry.kind = EntryKind::Directory;
  if (raw.d_type != DT_LNK && raw.d_type != DT_UNKNOWN) return entry;
  struct stat status = {};
  if (fstatat(dirfd(directory), raw.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
    entry.is_symlink = S_ISLNK(status.st_mode);
  }
  // A link to nothing stays `Other`.
  if (fstatat(dirfd(directory), raw.d_name, &status, 0) == 0) entry.kind = KindOfMode(status.st_mode);
  return entry;
}

}  // namespace

base::Result<std::string> RealFileSystem::Read(const std::string& path) const {
  // Without O_NONBLOCK a named pipe would wait for a writer forever.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return SystemError(path, "cannot open", errno);
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) return SystemError(path, "cannot read", errno);
  if (S_ISDIR(status.st_mode)) return SystemError(path, "cannot read", EISDIR);
  if (!S_ISREG(status.st_mode)) return base::Fail(path + ": cannot read: neither a file nor a directory");
  if (status.st_size > kLargestFile) {
    return base::Fail(path + ": cannot read: larger than the " + std::to_string(kLargestFile >> 20) + " MiB that a file may have");
  }
  return ReadAll(path, file.get(), static_cast<size_t>(status.st_size));
}

base::Result<std::vector<DirectoryEntry>> RealFileSystem::List(const std::string& path) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), closedir);
  if (directory == nullptr) return SystemError(path, "cannot list", errno);
  std::vector<DirectoryEntry> entries;
  for (;;) {
    errno = 0;
    const dirent* raw = readdir(directory.get());
    if (raw == nullptr && errno != 0) return SystemError(path, "cannot list", errno);
    if (raw == nullptr) break;
    const std::string_view name = raw->d_name;
    if (name != "." && name != "..") entries.push_back(EntryOf(directory.get(), *raw));
  }
  std::sort(entries.begin(), entries.end(),
            [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
  return entries;
}

base::Result<EntryKind> RealFileSystem::Kind(const std::string& path) const {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return SystemError(path, "cannot open", errno);
  return KindOfMode(status.st_mode);
}

base::Result<uint64_t> RealFileSystem::Size(const std::string& path) const {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return SystemError(path, "cannot open", errno);
  return static_cast<uint64_t>(status.st_size);
}

base::Result<std::string> RealFileSystem::Canonical(const std::string& path) const {
  const std::unique_ptr<char, void (*)(void*)> resolved(realpath(path.c_str(), nullptr), free);
  if (resolved == nullptr) return SystemError(path, "cannot resolve", errno);
  return std::string(resolved.get());
}

}  // namespace allranks::source
