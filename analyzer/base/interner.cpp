#include "analyzer/base/interner.h"

namespace allranks::base {

uint32_t Interner::Shard::Find(uint64_t hash, std::string_view text) const {
  return index.Find(hash, [&](uint32_t position) { return texts[position] == text; });
}

NameId Interner::Intern(std::string_view text) {
  const uint64_t hash = std::hash<std::string_view>()(text);
  const auto shard_index = static_cast<uint32_t>(hash & kShardMask);
  Shard& shard = shards_[shard_index];
  const std::lock_guard lock(shard.mutex);
  uint32_t position = shard.Find(hash, text);
  if (position == HashIndex::kNotFound) {
    position = static_cast<uint32_t>(shard.texts.size());
    shard.texts.emplace_back(text);
    shard.index.Add(hash, position);
  }
  return NameId{(position << kShardBits) | shard_index};
}

NameId Interner::Find(std::string_view text) const {
  const uint64_t hash = std::hash<std::string_view>()(text);
  const auto shard_index = static_cast<uint32_t>(hash & kShardMask);
  const Shard& shard = shards_[shard_index];
  const std::lock_guard lock(shard.mutex);
  const uint32_t position = shard.Find(hash, text);
  return position == HashIndex::kNotFound ? NameId::None() : NameId{(position << kShardBits) | shard_index};
}

std::string_view Interner::View(NameId id) const {
  if (!id) return {};
  const Shard& shard = shards_[id.index & kShardMask];
  const std::lock_guard lock(shard.mutex);
  return shard.texts[id.index >> kShardBits];
}

size_t Interner::size() const {
  size_t total = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    total += shard.texts.size();
  }
  return total;
}

}  // namespace allranks::base
