#pragma once

#include <string>

#include "analyzer/source/file_system.h"
#include "driver/pipeline/paths.h"

namespace allranks::server {

// Files as a process that runs in a folder sees them: one server has several folders, and the process stands in none.
class FolderFiles : public source::FileSystem {
 public:
  FolderFiles(std::string folder, const source::FileSystem& files) : folder_(std::move(folder)), files_(files) {}

  base::Result<std::string> Read(const std::string& path) const override { return files_.Read(Whole(path)); }
  base::Result<std::vector<source::DirectoryEntry>> List(const std::string& path) const override {
    return files_.List(Whole(path));
  }
  base::Result<source::EntryKind> Kind(const std::string& path) const override { return files_.Kind(Whole(path)); }
  base::Result<std::string> Canonical(const std::string& path) const override { return files_.Canonical(Whole(path)); }
  base::Result<uint64_t> Size(const std::string& path) const override { return files_.Size(Whole(path)); }

 private:
  std::string Whole(const std::string& path) const {
    return path.starts_with('/') ? path : pipeline::Normalized(pipeline::Join(folder_, path));
  }

  std::string folder_;
  const source::FileSystem& files_;
};

}  // namespace allranks::server
