#include "driver/pipeline/cache_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/files/write_file.h"
#include "analyzer/platform/platform.h"
#include "analyzer/source/file_system.h"
#include "driver/config/cache_dir.h"
#include "driver/pipeline/paths.h"
#include "driver/pipeline/selection.h"

namespace allranks::pipeline {
namespace {

namespace fs = std::filesystem;

// https://bford.info/cachedir/: backups leave folders with this file out.
constexpr std::string_view kTagText =
    "Signature: 8a477f597d28d172789f06886806bc55\n# Made by allranks; may be deleted at any time.\n";

constexpr std::string_view kIgnoreText = "# Made by allranks.\n*\n";

constexpr size_t kNameDigits = 32;

// Whether a run of ours may have made a file of this name, whole or in part: others may keep files of their own in a folder that is
// called `runs`.
enum class Made { Entry, Part, ByOthers };
Made MadeBy(std::string_view name) {
  const std::string_view digits = name.substr(0, kNameDigits);
  const bool is_hex = digits.size() == kNameDigits && digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  const std::string_view rest = is_hex ? name.substr(kNameDigits) : "?";
  if (rest.empty()) return Made::Entry;
  return rest.starts_with('.') && rest.ends_with(".tmp") ? Made::Part : Made::ByOthers;
}

// A link may lead anywhere.
bool IsLink(const std::string& path) {
  struct stat about {};
  return lstat(path.c_str(), &about) == 0 && S_ISLNK(about.st_mode);
}

// The folder itself: a link in its place is not followed.
files::Folder Opened(const std::string& folder) {
  const std::string_view above = DirectoryOf(folder);
  return files::Folder(above.empty() ? "." : std::string(above)).Below(NameOf(folder));
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

CacheFolder::CacheFolder(std::string folder, std::string_view key, std::string_view kind)
    : folder_(std::move(folder)), kind_(kind), build_(platform::BuildId()) {
  while (folder_.size() > 1 && folder_.ends_with('/')) folder_.pop_back();
  // Without them nothing tells what another version, or somebody else, has put there.
  const bool is_usable = !build_.empty() && !key.empty() && !folder_.empty();
  if (!is_usable || IsLink(folder_) || IsLink(folder_ + "/" + kind_)) folder_.clear();
  else seal_.emplace(key);
}

// An entry: its mark, what it was made of, the bytes.
std::optional<std::string> CacheFolder::Find(const std::string& name, std::string_view subject, size_t most_bytes) const {
  struct stat about {};
  if (!IsUsed() || stat(PathOf(name).c_str(), &about) != 0 || static_cast<uint64_t>(about.st_size) > most_bytes) return std::nullopt;
  base::Result<std::string> entry = source::RealFileSystem().Read(PathOf(name));
  const size_t head = Seal::kSize + subject.size();
  if (!entry || entry->size() < head) return std::nullopt;
  const std::string_view all = *entry;
  if (all.substr(Seal::kSize, subject.size()) != subject) return std::nullopt;
  if (!seal_->Fits(all.substr(0, Seal::kSize), {build_, kind_, name, subject}, all.substr(head))) return std::nullopt;
  NoteUse(PathOf(name), about);
  entry->erase(0, head);
  return std::move(*entry);
}

void CacheFolder::Keep(const std::string& name, std::string_view subject, std::string_view bytes) {
  if (!IsUsed()) return;
  std::call_once(made_, [this] { Make(); });
  has_kept_ = true;
  const std::string mark = seal_->Of({build_, kind_, name, subject}, bytes);
  // A cache that cannot be written is no fault of the run.
  (void)files::ReplaceIn(open_, name, mark + std::string(subject) + std::string(bytes));
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
  // From the folder that is open.
  const auto remove = [&](const fs::path& path) { unlinkat(open_.descriptor(), path.filename().c_str(), 0); };
  std::vector<Entry> entries;
  std::error_code error;
  const fs::file_time_type now = fs::file_time_type::clock::now();
  for (const fs::directory_entry& each : fs::directory_iterator(folder_ + "/" + kind_, error)) {
    const fs::file_time_type used = each.last_write_time(error);
    const uint64_t bytes = error ? 0 : each.file_size(error);
    if (error) continue;
    const Made made = MadeBy(each.path().filename().native());
    if (made == Made::ByOthers) continue;
    const bool is_part = made == Made::Part;
    if (now - used > (is_part ? kLongestWrite : bounds.unused)) remove(each.path());
    else if (!is_part) entries.push_back({used, bytes, each.path()});
  }
  std::ranges::sort(entries, std::greater(), &Entry::used);
  uint64_t bytes = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    bytes += entries[i].bytes;
    if (i >= bounds.entries || bytes > bounds.bytes) remove(entries[i].path);
  }
}

// Nothing is written through a link that is put in the place of the folder, or of one in it, meanwhile. The .gitignore is also made
// where the folder was there before: a repository may have brought it, and what a run keeps is not for its history.
void CacheFolder::Make() {
  mkdir(folder_.c_str(), 0777);
  const files::Folder top = Opened(folder_);
  mkdirat(top.descriptor(), kind_.c_str(), 0777);
  open_ = top.Below(kind_);
  const source::RealFileSystem files;
  // Git and backups would pass over what else is in a folder that somebody named.
  if (NameOf(folder_) != config::kCacheFolder && !config::OtherThanCache(folder_, files).empty()) return;
  for (const auto& [name, text] : {std::pair(config::kCacheIgnore, kIgnoreText), std::pair(config::kCacheTag, kTagText)}) {
    const std::string path = Join(folder_, name);
    if (IsLink(path) || files.Read(path).value_or("") != text) (void)files::ReplaceIn(top, std::string(name), text);
  }
}

base::Result<Left> DeleteCache(const std::string& folder) {
  const source::RealFileSystem files;
  const auto is_ours = [&](std::string_view name, std::string_view text) {
    const std::string path = Join(folder, name);
    return !IsLink(path) && files.Read(path).value_or("") == text;
  };
  if (IsLink(folder) || !is_ours(config::kCacheTag, kTagText)) {
    return base::Fail(folder + ": not deleted: this is no cache of allranks; it has no CACHEDIR.TAG of its making");
  }
  // What is deleted lies in the folder that is open, whatever is put in its place meanwhile.
  const files::Folder top = Opened(folder);
  for (const std::string_view kind : config::kCacheKinds) {
    const files::Folder of_kind = top.Below(kind);
    const base::Result<std::vector<source::DirectoryEntry>> entries = files.List(Join(folder, kind));
    if (of_kind.error() != 0 || !entries) continue;
    for (const source::DirectoryEntry& entry : *entries) {
      if (MadeBy(entry.name) != Made::ByOthers) unlinkat(of_kind.descriptor(), entry.name.c_str(), 0);
    }
    unlinkat(top.descriptor(), std::string(kind).c_str(), AT_REMOVEDIR);
  }
  if (!config::OtherThanCache(folder, files).empty()) return Left::OtherFiles;
  for (const auto& [name, text] : {std::pair(config::kCacheIgnore, kIgnoreText), std::pair(config::kCacheTag, kTagText)}) {
    if (is_ours(name, text)) unlinkat(top.descriptor(), std::string(name).c_str(), 0);
  }
  if (rmdir(folder.c_str()) == 0) return Left::Nothing;
  if (errno == ENOTEMPTY || errno == EEXIST) return Left::OtherFiles;
  return base::Fail("cannot delete " + folder + ": " + std::generic_category().message(errno));
}

}  // namespace allranks::pipeline
