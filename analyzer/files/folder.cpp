#include "analyzer/files/folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "analyzer/platform/platform.h"

namespace allranks::files {
namespace {

// Without links. Empty: errno says why.
std::string Resolved(const std::string& path) {
  char* const whole = realpath(path.c_str(), nullptr);
  std::string resolved = whole != nullptr ? whole : "";
  std::free(whole);
  return resolved;
}

// The same of a path whose last name need not be there.
std::string ResolvedOrNew(const std::string& path) {
  std::string whole = Resolved(path);
  if (!whole.empty() || errno != ENOENT) return whole;
  const size_t slash = path.rfind('/');
  const std::string folder = Resolved(slash == std::string::npos ? "." : path.substr(0, slash + 1));
  return folder.empty() ? folder : folder + "/" + path.substr(slash + 1);
}

}  // namespace

Folder::Folder(const std::string& path) : descriptor_(platform::OpenFolder(AT_FDCWD, path, platform::Links::Follow)) {
  if (descriptor_ < 0) error_ = errno;
}

Folder::~Folder() {
  if (descriptor_ >= 0) close(descriptor_);
}

Folder::Folder(Folder&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), error_(other.error_) {}

Folder& Folder::operator=(Folder&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(error_, other.error_);
  return *this;
}

// Name by name: only the last one of a path can be kept from following a link on every system.
Folder Folder::Below(std::string_view path) const {
  Folder at(platform::OpenFolder(descriptor_, ".", platform::Links::Refuse), 0);
  if (at.descriptor_ < 0) return NotOpen(errno);
  while (!path.empty()) {
    const std::string name(path.substr(0, path.find('/')));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    if (name.empty()) continue;
    if (name == "..") return NotOpen(EXDEV);
    Folder next(platform::OpenFolder(at.descriptor_, name, platform::Links::Refuse), 0);
    if (next.descriptor_ < 0) return NotOpen(errno);
    at = std::move(next);
  }
  return at;
}

Place PlaceBelow(const std::string& top, const std::string& path) {
  const std::string target = ResolvedOrNew(path);
  if (target.empty()) return {.folder = Folder::NotOpen(errno), .name = {}};
  std::string above = Resolved(top);
  if (above.empty()) return {.folder = Folder::NotOpen(errno), .name = {}};
  if (!above.ends_with('/')) above += '/';
  if (!target.starts_with(above)) return {.folder = Folder::NotOpen(EXDEV), .name = {}};
  const Folder folder(above);
  if (folder.error() != 0) return {.folder = Folder::NotOpen(folder.error()), .name = {}};
  const size_t slash = target.rfind('/');
  const std::string_view between = std::string_view(target).substr(0, slash + 1).substr(above.size());
  return {.folder = folder.Below(between), .name = target.substr(slash + 1)};
}

bool LiesBelow(const std::string& top, const std::string& path) {
  const std::string above = Resolved(top);
  if (above.empty()) return false;
  const std::string below = above.ends_with('/') ? above : above + "/";
  namespace fs = std::filesystem;
  for (fs::path at = (fs::path(Resolved(".")) / path).lexically_normal().parent_path();; at = at.parent_path()) {
    const std::string folder = Resolved(at.string());
    if (folder == above || folder.starts_with(below)) return true;
    if (at.empty() || at == at.parent_path()) return false;
  }
}

}  // namespace allranks::files
