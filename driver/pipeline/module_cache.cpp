#include "driver/pipeline/module_cache.h"

#include <fmt/format.h>

#include "analyzer/ir/serialize.h"

namespace allranks::pipeline {
namespace {

// A project of 50,000 files, or of 170 MB of sources, is kept whole.
constexpr CacheBounds kBounds = {.entries = 50'000, .bytes = uint64_t{512} << 20};

std::string SubjectOf(const Content& content) { return fmt::format("{:016x}{:016x}", content.high, content.low); }

// What an entry of a source of `source_bytes` may have. Ours hold 3 bytes for each of the source's; who brings others brings
// them of any size.
size_t MostBytes(size_t source_bytes) {
  constexpr size_t kMostPerByte = 64;
  constexpr size_t kAlways = 1 << 16;
  return kAlways + kMostPerByte * source_bytes;
}

}  // namespace

std::optional<ir::Module> ModuleCache::Find(const std::string& path, const Content& content, source::FileId id,
                                            size_t source_bytes, base::Interner& names) const {
  if (!folder_.IsUsed()) return std::nullopt;
  const std::optional<std::string> bytes = folder_.Find(DigitsOf(path), SubjectOf(content), MostBytes(source_bytes));
  if (!bytes) return std::nullopt;
  base::Result<ir::Module> module = ir::Deserialize(*bytes, id, source_bytes, names);
  return module ? std::optional<ir::Module>(std::move(*module)) : std::nullopt;
}

void ModuleCache::Keep(const std::string& path, const Content& content, ir::Module module, const base::Interner& names) {
  if (!folder_.IsUsed()) return;
  folder_.Keep(DigitsOf(path), SubjectOf(content), ir::Serialize(std::move(module), names));
}

void ModuleCache::Prune() const { folder_.Prune(kBounds); }

}  // namespace allranks::pipeline
