#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/result.h"

namespace allranks::source {

enum class EntryKind { File, Directory, Other };

struct DirectoryEntry {
  std::string name;
  EntryKind kind = EntryKind::Other;
  bool is_symlink = false;
};

// What the tool may ask of the disk; the in-memory version serves tests and the language server.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  [[nodiscard]] virtual base::Result<std::string> Read(const std::string& path) const = 0;
  // Entries in byte order of their names; an error says why a directory cannot be listed.
  [[nodiscard]] virtual base::Result<std::vector<DirectoryEntry>> List(const std::string& path) const = 0;
  // Follows symbolic links. Nothing there: an error.
  [[nodiscard]] virtual base::Result<EntryKind> Kind(const std::string& path) const = 0;
  // The path with all symbolic links resolved: tells a loop of links from a deep tree.
  [[nodiscard]] virtual base::Result<std::string> Canonical(const std::string& path) const = 0;
  // In bytes, where the file need not be read for that.
  [[nodiscard]] virtual base::Result<uint64_t> Size(const std::string& path) const;
};

class RealFileSystem : public FileSystem {
 public:
  base::Result<std::string> Read(const std::string& path) const override;
  base::Result<std::vector<DirectoryEntry>> List(const std::string& path) const override;
  base::Result<EntryKind> Kind(const std::string& path) const override;
  base::Result<std::string> Canonical(const std::string& path) const override;
  base::Result<uint64_t> Size(const std::string& path) const override;
};

// Files by path; directories are those that some file's path names.
class MemoryFileSystem : public FileSystem {
 public:
  explicit MemoryFileSystem(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  base::Result<std::string> Read(const std::string& path) const override;
  base::Result<std::vector<DirectoryEntry>> List(const std::string& path) const override;
  base::Result<EntryKind> Kind(const std::string& path) const override;
  base::Result<std::string> Canonical(const std::string& path) const override;

 private:
  std::map<std::string, std::string> files_;
};

}  // namespace allranks::source
