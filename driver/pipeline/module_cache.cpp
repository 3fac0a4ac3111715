#include "driver/pipeline/module_cache.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "analyzer/files/write_file.h"
#include "analyzer/ir/serialize.h"
#include "analyzer/platform/platform.h"
#include "analyzer/source/file_system.h"

namespace allranks::pipeline {
namespace {

// https://bford.info/cachedir/: backups leave folders with this file out.
constexpr std::string_view kCacheTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n# Made by allranks; may be deleted at any time.\n";

std::string Digits(const Content& content) { return fmt::format("{:016x}{:016x}", content.high, content.low); }
std::string HashOf(std::string_view bytes) { return Digits(ContentOf(bytes)); }

// A link may lead anywhere.
bool IsLink(const std::string& path) {
  struct stat about {};
  return lstat(path.c_str(), &about) == 0 && S_ISLNK(about.st_mode);
}

// Whether an entry may be that of a source of `source_bytes`. Ours hold 3 bytes for each of the source's; who brings others
// brings them of any size.
bool IsOfSize(const std::string& path, size_t source_bytes) {
  constexpr size_t kMostPerByte = 64;
  constexpr size_t kAlways = 1 << 16;
  struct stat about {};
  return stat(path.c_str(), &about) == 0 && static_cast<size_t>(about.st_size) <= kAlways + kMostPerByte * source_bytes;
}

}  // namespace

ModuleCache::ModuleCache(std::string folder, std::string_view key) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  const std::string build_id = platform::BuildId();
  maker_ = HashOf(build_id + std::string(key));
  // Without them nothing tells what another version, or somebody else, has put there.
  if (build_id.empty() || key.empty() || IsLink(folder_) || IsLink(folder_ + "/ir")) folder_.clear();
}

std::string ModuleCache::EntryOf(const std::string& path) const { return folder_ + "/ir/" + HashOf(path); }

std::string ModuleCache::KeyOf(const Content& content) const { return maker_ + Digits(content); }

// An entry: the key, the hash of what follows, the module.
std::optional<ir::Module> ModuleCache::Find(const std::string& path, const Content& content, source::FileId id,
                                            size_t source_bytes, base::Interner& names) const {
  if (folder_.empty() || !IsOfSize(EntryOf(path), source_bytes)) return std::nullopt;
  const base::Result<std::string> entry = source::RealFileSystem().Read(EntryOf(path));
  const std::string key = KeyOf(content);
  const size_t head = key.size() + HashOf("").size();
  if (!entry || entry->size() < head || !entry->starts_with(key)) return std::nullopt;
  const std::string_view bytes = std::string_view(*entry).substr(head);
  if (std::string_view(*entry).substr(key.size(), head - key.size()) != HashOf(bytes)) return std::nullopt;
  base::Result<ir::Module> module = ir::Deserialize(bytes, id, source_bytes, names);
  return module ? std::optional<ir::Module>(std::move(*module)) : std::nullopt;
}

void ModuleCache::Keep(const std::string& path, const Content& content, ir::Module module, const base::Interner& names) {
  if (folder_.empty()) return;
  std::call_once(made_, [this] { MakeFolder(); });
  const std::string bytes = ir::Serialize(std::move(module), names);
  // A cache that cannot be written is no fault of the run.
  (void)files::ReplaceWhole(EntryOf(path), KeyOf(content) + HashOf(bytes) + bytes);
}

void ModuleCache::MakeFolder() {
  const bool is_new = mkdir(folder_.c_str(), 0777) == 0;
  mkdir((folder_ + "/ir").c_str(), 0777);
  if (!is_new) return;
  (void)files::ReplaceWhole(folder_ + "/.gitignore", "# Made by allranks.\n*\n");
  (void)files::ReplaceWhole(folder_ + "/CACHEDIR.TAG", kCacheTag);
}

}  // namespace allranks::pipeline
