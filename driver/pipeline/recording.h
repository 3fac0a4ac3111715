// What a run reads from the disk. A later run for which the disk gives the same answers has the same findings.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/source/file_system.h"
#include "driver/pipeline/selection.h"

namespace allranks::pipeline {

enum class Asked : uint8_t { Read, List, Kind, Canonical, Size };

struct Question {
  Asked asked{};
  std::string path;
  Content answer;  // an error is an answer as well
};

// A folder that no listing counts, whether it is there or not: that of the cache.
class Unlisted {
 public:
  Unlisted(const std::string& path, std::string working_directory);
  bool Is(const std::string& directory, const std::string& name) const;

 private:
  std::string working_directory_;
  std::string path_;  // absolute
};

// Asks again. `bytes`: where the text of a file that is read goes.
Content AnswerNow(Asked asked, const std::string& path, const source::FileSystem& files, const Unlisted& unlisted, std::string* bytes = nullptr);

// Hands everything through, from any thread.
class RecordingFileSystem : public source::FileSystem {
 public:
  RecordingFileSystem(const source::FileSystem& files, Unlisted unlisted) : files_(files), unlisted_(std::move(unlisted)) {}

  base::Result<std::string> Read(const std::string& path) const override;
  base::Result<std::vector<source::DirectoryEntry>> List(const std::string& path) const override;
  base::Result<source::EntryKind> Kind(const std::string& path) const override;
  base::Result<std::string> Canonical(const std::string& path) const override;
  base::Result<uint64_t> Size(const std::string& path) const override;

  // Nothing, if the disk changed while the run looked at it.
  std::optional<std::vector<Question>> Questions() const;

 private:
  void Note(Asked asked, const std::string& path, const Content& answer) const;

  const source::FileSystem& files_;
  Unlisted unlisted_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<Asked, std::string>, Content> answers_;
  mutable bool has_changed_ = false;
};

}  // namespace allranks::pipeline
