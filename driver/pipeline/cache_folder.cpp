#include "driver/pipeline/cache_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
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

bool IsOfSize(const std::string& path, size_t most_bytes) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0 && static_cast<uint64_t>(about.st_size) <= most_bytes;
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
  if (!IsUsed() || !IsOfSize(PathOf(name), most_bytes)) return std::nullopt;
  base::Result<std::string> entry = source::RealFileSystem().Read(PathOf(name));
  const std::string key = maker_ + std::string(subject);
  const size_t head = key.size() + DigitsOf("").size();
  if (!entry || entry->size() < head || !entry->starts_with(key)) return std::nullopt;
  const std::string_view bytes = std::string_view(*entry).substr(head);
  if (std::string_view(*entry).substr(key.size(), head - key.size()) != DigitsOf(bytes)) return std::nullopt;
  entry->erase(0, head);
  return std::move(*entry);
}

void CacheFolder::Keep(const std::string& name, std::string_view subject, std::string_view bytes) {
  if (!IsUsed()) return;
  std::call_once(made_, [this] { Make(); });
  // A cache that cannot be written is no fault of the run.
  (void)files::ReplaceWhole(PathOf(name), maker_ + std::string(subject) + DigitsOf(bytes) + std::string(bytes));
}

// A run that is killed while it writes leaves a file of another name where the system has no files without one.
void CacheFolder::Sweep() const {
  if (!IsUsed()) return;
  constexpr std::chrono::hours kLongestWrite{1};
  std::error_code error;
  for (const fs::directory_entry& each : fs::directory_iterator(folder_ + "/" + kind_, error)) {
    if (each.path().extension() != ".tmp") continue;
    const fs::file_time_type written = fs::last_write_time(each.path(), error);
    if (!error && fs::file_time_type::clock::now() - written > kLongestWrite) fs::remove(each.path(), error);
  }
}

void CacheFolder::KeepLatest(size_t most) const {
  if (!IsUsed()) return;
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  for (const fs::directory_entry& each : fs::directory_iterator(folder_ + "/" + kind_, error)) {
    const fs::file_time_type written = fs::last_write_time(each.path(), error);
    if (!error) entries.emplace_back(written, each.path());
  }
  std::ranges::sort(entries, std::greater());
  for (size_t i = most; i < entries.size(); ++i) fs::remove(entries[i].second, error);
}

void CacheFolder::Make() {
  const bool is_new = mkdir(folder_.c_str(), 0777) == 0;
  mkdir((folder_ + "/" + kind_).c_str(), 0777);
  if (!is_new) return;
  (void)files::ReplaceWhole(folder_ + "/.gitignore", "# Made by allranks.\n*\n");
  (void)files::ReplaceWhole(folder_ + "/CACHEDIR.TAG", kCacheTag);
}

}  // namespace allranks::pipeline
