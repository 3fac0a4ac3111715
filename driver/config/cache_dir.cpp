#include "driver/config/cache_dir.h"

#include <algorithm>

namespace allranks::config {

std::string OtherThanCache(const std::string& folder, const source::FileSystem& files) {
  const base::Result<std::vector<source::DirectoryEntry>> entries = files.List(folder);
  if (!entries) return {};
  const auto other = std::ranges::find_if(*entries, [](const source::DirectoryEntry& entry) {
    return entry.name != kCacheIgnore && entry.name != kCacheTag && std::ranges::find(kCacheKinds, entry.name) == kCacheKinds.end();
  });
  return other == entries->end() ? std::string() : other->name;
}

}  // namespace allranks::config
