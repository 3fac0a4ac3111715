// The folder in which runs keep what later ones may use, each kind in a folder of its own.
//
// An entry counts only for the build of allranks that made it, and only if a run of the same user made it (cache_key.h): it
// carries a mark that is made with the user's key. Anything else found there is ignored. Entries are replaced whole, so several runs may share a folder, and it may be deleted
// at any time. Each kind has a bound: what is used least recently goes first (Prune).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/base/result.h"
#include "analyzer/files/folder.h"
#include "driver/pipeline/seal.h"

namespace allranks::pipeline {

// What the entries of a kind may come to; an entry that nobody has used for so long goes in any case.
struct CacheBounds {
  size_t entries = 0;
  uint64_t bytes = 0;
  std::chrono::hours unused = std::chrono::hours(24 * 30);
};

class CacheFolder {
 public:
  // The folder is made when something is kept. If its name is empty or it is a link, or there is no key, nothing is looked up
  // or kept.
  CacheFolder(std::string folder, std::string_view key, std::string_view kind);

  bool IsUsed() const { return !folder_.empty(); }
  // Of what was kept as `name`, which DigitsOf has made, for `subject`; nothing, if it is not there, is not ours, is damaged or has more bytes than these.
  // An entry that is found counts as used now.
  std::optional<std::string> Find(const std::string& name, std::string_view subject, size_t most_bytes) const;
  // Where it cannot be written, nothing is kept. Any thread.
  void Keep(const std::string& name, std::string_view subject, std::string_view bytes);

  // Deletes what is beyond the bounds, and what runs left that were killed. It looks at each entry, so only a run that kept any does it.
  void Prune(const CacheBounds& bounds) const;

 private:
  std::string PathOf(const std::string& name) const { return folder_ + "/" + kind_ + "/" + name; }
  void Make();

  std::string folder_;
  std::string kind_;
  std::string build_;  // what tells this program from others
  std::optional<Seal> seal_;
  std::once_flag made_;
  files::Folder open_ = files::Folder::NotOpen(0);  // that of the kind, once anything is kept
  std::atomic<bool> has_kept_ = false;
};

// What is left of a folder once all that runs kept there is deleted.
enum class Left { Nothing, OtherFiles };
// Deletes the entries, and the folder itself if nothing else is in it; what somebody else put there stays. An error: the folder
// has no mark of a cache of ours, or what is in it cannot be deleted.
[[nodiscard]] base::Result<Left> DeleteCache(const std::string& folder);

// 32 digits that tell texts apart.
std::string DigitsOf(std::string_view bytes);

}  // namespace allranks::pipeline
