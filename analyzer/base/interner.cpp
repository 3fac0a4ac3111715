#include "analyzer/base/interner.h"

#include <bit>

namespace allranks::base {
namespace {

// Of a position: its chunk, and its place there.
struct Place {
  uint32_t chunk = 0;
  uint32_t offset = 0;
};

Place PlaceOf(uint32_t position, uint32_t first_bits) {
  const uint32_t shifted = position + (1u << first_bits);
  const auto chunk = static_cast<uint32_t>(std::bit_width(shifted)) - 1 - first_bits;
  return {.chunk = chunk, .offset = shifted - (1u << (first_bits + chunk))};
}

}  // namespace

Interner::Shard::~Shard() {
  for (const auto& chunk : chunks) delete[] chunk.load();
}

const std::string& Interner::Shard::At(uint32_t position) const {
  const Place place = PlaceOf(position, kFirstBits);
  return chunks[place.chunk].load(std::memory_order_acquire)[place.offset];
}

uint32_t Interner::Shard::Find(uint64_t hash, std::string_view text) const {
  return index.Find(hash, [&](uint32_t position) { return At(position) == text; });
}

void Interner::Shard::Add(uint64_t hash, std::string_view text) {
  const Place place = PlaceOf(count, kFirstBits);
  std::string* chunk = chunks[place.chunk].load(std::memory_order_relaxed);
  if (chunk == nullptr) {
    chunk = new std::string[kFirst << place.chunk];
    chunks[place.chunk].store(chunk, std::memory_order_release);
  }
  chunk[place.offset] = text;
  index.Add(hash, count++);
}

NameId Interner::Intern(std::string_view text) {
  const uint64_t hash = std::hash<std::string_view>()(text);
  const auto shard_index = static_cast<uint32_t>(hash & kShardMask);
  Shard& shard = shards_[shard_index];
  const std::lock_guard lock(shard.mutex);
  uint32_t position = shard.Find(hash, text);
  if (position == HashIndex::kNotFound) {
    position = shard.count;
    shard.Add(hash, text);
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
  return shards_[id.index & kShardMask].At(id.index >> kShardBits);
}

size_t Interner::size() const {
  size_t total = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    total += shard.count;
  }
  return total;
}

}  // namespace allranks::base
