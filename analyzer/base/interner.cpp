#include "analyzer/base/interner.h"

namespace allranks::base {

uint32_t Interner::ShardOf(std::string_view text) {
  return static_cast<uint32_t>(std::hash<std::string_view>()(text)) & ((1u << kShardBits) - 1);
}

NameId Interner::Intern(std::string_view text) {
  const uint32_t shard_index = ShardOf(text);
  Shard& shard = shards_[shard_index];
  const std::lock_guard lock(shard.mutex);
  if (const auto found = shard.index.find(text); found != shard.index.end()) {
    return NameId{(found->second << kShardBits) | shard_index};
  }
  const auto position = static_cast<uint32_t>(shard.texts.size());
  shard.texts.emplace_back(text);
  shard.index.emplace(shard.texts.back(), position);
  return NameId{(position << kShardBits) | shard_index};
}

NameId Interner::Find(std::string_view text) const {
  const uint32_t shard_index = ShardOf(text);
  const Shard& shard = shards_[shard_index];
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.index.find(text);
  return found == shard.index.end() ? NameId::None() : NameId{(found->second << kShardBits) | shard_index};
}

std::string_view Interner::View(NameId id) const {
  if (!id) return {};
  const Shard& shard = shards_[id.index & ((1u << kShardBits) - 1)];
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
