// The code as it was at a commit, read from git: nothing is checked out, no file is written.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "analyzer/base/result.h"
#include "analyzer/source/file_system.h"

namespace allranks::baseline {

// What reading a commit may take.
struct RevisionBounds {
  std::function<bool()> is_stopped = {};  // whether the run is to end; none: it is not
  uint64_t memory_bytes = 0;              // of the run; 0: no bound
  uint64_t largest_file = 0;              // larger ones are empty; in bytes
};

// The commit at which the current branch left `revision`; `revision` itself where the two have none in common.
[[nodiscard]] base::Result<std::string> BaseCommit(const std::string& repository, const std::string& revision, const RevisionBounds& bounds);

// Files of the commit below `repository` (absolute); whatever lies outside, or is no code, is as it is now. Paths may be
// relative to `working_directory`.
class RevisionFiles : public source::FileSystem {
 public:
  static base::Result<RevisionFiles> At(const std::string& commit, const std::string& repository,
                                        const std::string& working_directory, const RevisionBounds& bounds);

  base::Result<std::string> Read(const std::string& path) const override;
  base::Result<std::vector<source::DirectoryEntry>> List(const std::string& path) const override;
  base::Result<source::EntryKind> Kind(const std::string& path) const override;
  base::Result<std::string> Canonical(const std::string& path) const override;

 private:
  RevisionFiles(std::map<std::string, std::string> files, std::string repository, std::string working_directory);
  bool IsInside(const std::string& absolute) const;
  std::string Absolute(const std::string& path) const;

  std::string repository_;
  std::string working_directory_;
  std::shared_ptr<const source::MemoryFileSystem> then_;
  source::RealFileSystem now_;
};

}  // namespace allranks::baseline
