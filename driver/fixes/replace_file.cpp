#include "driver/fixes/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "analyzer/files/write_file.h"

namespace allranks::fixes {
namespace {

constexpr const char* kChanged = "the file changed while it was checked; run again";

std::string ErrorText(int error) {
  // A link where there was none when the path was looked up.
  if (error == ELOOP || error == ENOTDIR) return kChanged;
  return std::strerror(error);
}

bool IsReadOnly(const files::Place& place, const struct stat& status) {
  constexpr mode_t kAnyWrite = S_IWUSR | S_IWGRP | S_IWOTH;
  return (status.st_mode & kAnyWrite) == 0 || faccessat(place.folder.descriptor(), place.name.c_str(), W_OK, 0) != 0;
}

// Whether the rest of the file is this text.
bool Holds(int descriptor, const std::string& text) {
  std::vector<char> bytes(text.size() + 1);
  size_t used = 0;
  while (used < bytes.size()) {
    const ssize_t got = read(descriptor, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += static_cast<size_t>(got);
  }
  return std::string_view(bytes.data(), used) == text;
}

// What keeps the file from being replaced; empty: nothing.
std::string WhyNot(const files::Place& place, const std::string& before) {
  // Without waiting for whoever writes into a pipe.
  const int file = openat(place.folder.descriptor(), place.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return ErrorText(errno);
  struct stat status = {};
  std::string problem;
  if (fstat(file, &status) != 0) problem = ErrorText(errno);
  else if (IsReadOnly(place, status)) problem = "the file is read-only; make it writable and run again";
  else if (!S_ISREG(status.st_mode) || !Holds(file, before)) problem = kChanged;
  close(file);
  return problem;
}

}  // namespace

std::string LiesOutside(const std::string& path) { return path + ": not fixed: it lies outside the project; name its root with --root"; }

base::Result<bool> ReplaceFile(const std::string& root, const std::string& path, const std::string& before, const std::string& after) {
  const files::Place place = files::PlaceBelow(root, path);
  if (place.folder.error() == EXDEV) return base::Fail(LiesOutside(path));
  if (place.folder.error() != 0) return base::Fail(path + ": not fixed: " + ErrorText(place.folder.error()));
  if (const std::string problem = WhyNot(place, before); !problem.empty()) return base::Fail(path + ": not fixed: " + problem);
  if (const int error = files::ReplaceIn(place.folder, place.name, after, files::Sync::Yes)) return base::Fail(path + ": not fixed: " + ErrorText(error));
  return true;
}

}  // namespace allranks::fixes
