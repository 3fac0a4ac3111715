#include "driver/pipeline/module_cache.h"

#include <sys/stat.h>
#include <xxhash.h>

#include <cstdio>
#include <fstream>

#include "analyzer/base/write_file.h"
#include "analyzer/ir/serialize.h"
#include "driver/pipeline/build_id.h"

namespace allranks::pipeline {
namespace {

// https://bford.info/cachedir/: backups leave folders with this file out.
constexpr std::string_view kCacheTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n# Made by allranks; may be deleted at any time.\n";

std::string Digits(XXH128_hash_t hash) {
  char digits[33];
  std::snprintf(digits, sizeof(digits), "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return digits;
}

std::string HashOf(std::string_view bytes) { return Digits(XXH3_128bits(bytes.data(), bytes.size())); }

std::optional<std::string> ReadWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return std::nullopt;
  const std::streamoff size = in.tellg();
  if (size < 0) return std::nullopt;
  std::string bytes(static_cast<size_t>(size), '\0');
  in.seekg(0);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(size))) return std::nullopt;
  return bytes;
}

}  // namespace

ModuleCache::ModuleCache(std::string folder)
    : folder_(std::move(folder)), build_id_(folder_.empty() ? "" : BuildId()) {
  // Without it nothing tells what another version has kept.
  if (build_id_.empty()) folder_.clear();
}

std::string ModuleCache::EntryOf(const std::string& path) const { return folder_ + "/ir/" + HashOf(path); }

std::string ModuleCache::KeyOf(const source::SourceFile& file) const {
  std::string key = build_id_ + (file.is_notebook() ? "notebook" : "source");
  for (const source::NotebookCell& cell : file.cells) key += "," + std::to_string(cell.first_line);
  return HashOf(key) + HashOf(file.text);
}

// An entry: the key, the hash of what follows, the module.
std::optional<ir::Module> ModuleCache::Find(const std::string& path, const source::SourceFile& file, source::FileId id,
                                            base::Interner& names) const {
  if (folder_.empty()) return std::nullopt;
  const std::optional<std::string> entry = ReadWhole(EntryOf(path));
  const std::string key = KeyOf(file);
  const size_t head = key.size() + HashOf("").size();
  if (!entry || entry->size() < head || !entry->starts_with(key)) return std::nullopt;
  const std::string_view bytes = std::string_view(*entry).substr(head);
  if (std::string_view(*entry).substr(key.size(), head - key.size()) != HashOf(bytes)) return std::nullopt;
  base::Result<ir::Module> module = ir::Deserialize(bytes, id, file.text.size(), names);
  return module ? std::optional<ir::Module>(std::move(*module)) : std::nullopt;
}

void ModuleCache::Keep(const std::string& path, const source::SourceFile& file, ir::Module module,
                       const base::Interner& names) {
  if (folder_.empty()) return;
  std::call_once(made_, [this] { MakeFolder(); });
  const std::string bytes = ir::Serialize(std::move(module), names);
  // A cache that cannot be written is no fault of the run.
  (void)base::WriteWhole(EntryOf(path), KeyOf(file) + HashOf(bytes) + bytes);
}

void ModuleCache::MakeFolder() {
  const bool is_new = mkdir(folder_.c_str(), 0777) == 0;
  mkdir((folder_ + "/ir").c_str(), 0777);
  if (!is_new) return;
  (void)base::WriteWhole(folder_ + "/.gitignore", "# Made by allranks.\n*\n");
  (void)base::WriteWhole(folder_ + "/CACHEDIR.TAG", kCacheTag);
}

}  // namespace allranks::pipeline
