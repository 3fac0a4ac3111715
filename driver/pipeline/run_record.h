// What a run came to, kept on disk with all that it asked of the disk: a later run with the same settings asks the same again,
// and where all answers are the same it is over.
//
// Nothing but what was read decides: not the time of a file, and not its size. What Clang asks is asked once more by the run itself
// (unit_cache.h). Runs that were cut short, in which Clang failed, or that read standard input are not kept.
#pragma once

#include <optional>
#include <string>

#include "driver/pipeline/cache_folder.h"
#include "driver/pipeline/pipeline.h"
#include "driver/pipeline/recording.h"

namespace allranks::pipeline {

class RunRecord {
 public:
  // `key` as of CacheFolder.
  RunRecord(const Options& options, std::string_view key);

  // Whether it would be kept.
  bool IsUsed() const { return folder_.IsUsed(); }
  std::optional<Output> Find(const source::FileSystem& files) const;
  void Keep(const RecordingFileSystem& files, const Output& out);
  const Unlisted& unlisted() const { return unlisted_; }

 private:
  std::string settings_;  // all that decides what a run finds, but for the disk
  Unlisted unlisted_;
  unsigned jobs_ = 0;
  CacheFolder folder_;
};

}  // namespace allranks::pipeline
