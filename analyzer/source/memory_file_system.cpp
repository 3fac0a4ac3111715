#include <algorithm>
#include <filesystem>

#include "analyzer/source/file_system.h"

namespace allranks::source {
namespace {

// "./a//b/" and "a/b" are one place; the top is the empty text.
std::string Normal(const std::string& path) {
  std::string normal = std::filesystem::path(path).lexically_normal().generic_string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal == "." ? "" : normal;
}

std::string AsPrefix(const std::string& normal) {
  return normal.empty() || normal == "/" ? normal : normal + "/";
}

tl::unexpected<base::Error> NothingThere(const std::string& path) {
  return base::Fail(path + ": cannot open: No such file or directory");
}

}  // namespace

base::Result<std::string> MemoryFileSystem::Read(const std::string& path) const {
  if (const auto exact = files_.find(path); exact != files_.end()) return exact->second;
  const std::string wanted = Normal(path);
  for (const auto& [name, text] : files_) {
    if (Normal(name) == wanted) return text;
  }
  const base::Result<EntryKind> kind = Kind(path);
  if (kind && *kind == EntryKind::Directory) return base::Fail(path + ": cannot read: Is a directory");
  return NothingThere(path);
}

base::Result<std::vector<DirectoryEntry>> MemoryFileSystem::List(const std::string& path) const {
  const std::string prefix = AsPrefix(Normal(path));
  std::vector<DirectoryEntry> entries;
  for (const auto& [name, text] : files_) {
    const std::string normal = Normal(name);
    if (!normal.starts_with(prefix) || (prefix.empty() && normal.starts_with('/'))) continue;
    const std::string rest = normal.substr(prefix.size());
    const size_t slash = rest.find('/');
    const EntryKind kind = slash == std::string::npos ? EntryKind::File : EntryKind::Directory;
    entries.push_back({.name = rest.substr(0, slash), .kind = kind});
  }
  if (entries.empty()) return NothingThere(path);
  const auto by_name = [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; };
  const auto same_name = [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name == b.name; };
  std::sort(entries.begin(), entries.end(), by_name);
  entries.erase(std::unique(entries.begin(), entries.end(), same_name), entries.end());
  return entries;
}

base::Result<uint64_t> FileSystem::Size(const std::string& path) const {
  return Read(path).map([](const std::string& text) -> uint64_t { return text.size(); });
}

base::Result<EntryKind> MemoryFileSystem::Kind(const std::string& path) const {
  const std::string wanted = Normal(path);
  const std::string prefix = AsPrefix(wanted);
  for (const auto& [name, text] : files_) {
    const std::string normal = Normal(name);
    if (normal == wanted) return EntryKind::File;
    if (normal.starts_with(prefix)) return EntryKind::Directory;
  }
  return NothingThere(path);
}

base::Result<std::string> MemoryFileSystem::Canonical(const std::string& path) const {
  const base::Result<EntryKind> kind = Kind(path);
  if (!kind) return base::Fail(kind.error().message);
  return Normal(path);
}

}  // namespace allranks::source
