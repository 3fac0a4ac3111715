#include "driver/pipeline/cache_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "analyzer/files/write_file.h"
#include "analyzer/platform/platform.h"
#include "analyzer/source/file_system.h"
#include "driver/pipeline/selection.h"

namespace allranks::pipeline {
namespace {

namespace fs = std::filesystem;

// https://bford.info/cachedir/: backups leave folders with this file out.
constexpr std::string_view kCacheTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n# Made by allranks; may be deleted at any time.\n";

// A link may lead anywhere.
bool IsLink(const std::string& path) {
  struct stat about {};
  return lstat(path.c_str(), &about) == 0 && S_ISLNK(about.st_mode);
}

// The time of an entry is that of its last use, give or take a day: most runs write nothing.
void NoteUse(const std::string& path, const struct stat& about) {
  constexpr time_t kDay = 24 * 60 * 60;
  if (std::time(nullptr) - about.st_mtime > kDay) (void)utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

}  // namespace

std::string DigitsOf(std::string_view bytes) {
  const Content content = ContentOf(bytes);
  return fmt::format("{:016x}{:016x}", content.high, content.low);
}

CacheFolder::CacheFolder(std::string folder, std::string_view key, std::string_view kind) : folder_(std::move(folder)), kind_(kind) {
  if (folder_.empty()) return;
  const std::string build_id = platform::BuildId();
  maker_ = DigitsOf(build_id + std::string(key));
  // Without them nothing tells what another version, or somebody else, has put there.
  if (build_id.empty() || key.empty() || IsLink(folder_) || IsLink(folder_ + "/" + kind_)) folder_.clear();
}

// An entry: who made it, of what, the hash of what follows, the bytes.
std::optional<std::string> CacheFolder::Find(const std::string& name, std::string_view subject, size_t most_bytes) const {
  struct stat about {};
  if (!IsUsed() || stat(PathOf(name).c_str(), &about) != 0 || static_cast<uint64_t>(about.st_size) > most_bytes) return std::nullopt;
  base::Result<std::string> entry = source::RealFileSystem().Read(PathOf(name));
  const std::string key = maker_ + std::string(subject);
  const size_t head = key.size() + DigitsOf("").size();
  if (!entry || entry->size() < head || !entry->starts_with(key)) return std::nullopt;
  const std::string_view bytes = std::string_view(*entry).substr(head);
  if (std::string_view(*entry).substr(key.size(), head - key.size()) != DigitsOf(bytes)) return std::nullopt;
  NoteUse(PathOf(name), about);
  entry->erase(0, head);
  return std::move(*entry);
}

void CacheFolder::Keep(const std::string& name, std::string_view subject, std::string_view bytes) {
  if (!IsUsed()) return;
  std::call_once(made_, [this] { Make(); });
  has_kept_ = true;
  // A cache that cannot be written is no fault of the run.
  (void)files::ReplaceWhole(PathOf(name), maker_ + std::string(subject) + DigitsOf(bytes) + std::string(bytes));
}

// A run that is killed while it writes leaves a file of another name where the system has no files without one.
void CacheFolder::Prune(const CacheBounds& bounds) const {
  if (!IsUsed() || !has_kept_) return;
  constexpr std::chrono::hours kLongestWrite{1};
  struct Entry {
    fs::file_time_type used;
    uint64_t bytes = 0;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::error_code error;
  const fs::file_time_type now = fs::file_time_type::clock::now();
  for (const fs::directory_entry& each : fs::directory_iterator(folder_ + "/" + kind_, error)) {
    const fs::file_time_type used = each.last_write_time(error);
    const uint64_t bytes = error ? 0 : each.file_size(error);
    if (error) continue;
    const bool is_part = each.path().extension() == ".tmp";
    if (now - used > (is_part ? kLongestWrite : bounds.unused)) fs::remove(each.path(), error);
    else if (!is_part) entries.push_back({used, bytes, each.path()});
  }
  std::ranges::sort(entries, std::greater(), &Entry::used);
  uint64_t bytes = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    bytes += entries[i].bytes;
    if (i >= bounds.entries || bytes > bounds.bytes) fs::remove(entries[i].path, error);
  }
}

void CacheFolder::Make() {
  const bool is_new = mkdir(folder_.c_str(), 0777) == 0;
  mkdir((folder_ + "/" + kind_).c_str(), 0777);
  if (!is_new) return;
  (void)files::ReplaceWhole(folder_ + "/.gitignore", "# Made by allranks.\n*\n");
  (void)files::ReplaceWhole(folder_ + "/CACHEDIR.TAG", kCacheTag);
}

}  // namespace allranks::pipeline
