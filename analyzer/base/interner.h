#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "analyzer/base/hash_index.h"
#include "analyzer/base/id.h"

namespace allranks::base {

// An interned string: equal text has the equal id, within one `Interner`. The numbers depend on the order
// in which threads intern, so results are never sorted by them.
using NameId = Id<struct NameTag>;

// Thread-safe table of strings; views stay valid as long as the table lives. Looking at a string takes no lock: who has
// its id got it from who made it.
class Interner {
 public:
  NameId Intern(std::string_view text);
  // The id of `text` if it was interned before, else none; never adds.
  NameId Find(std::string_view text) const;
  std::string_view View(NameId id) const;
  size_t size() const;

 private:
  static constexpr uint32_t kShardBits = 4;  // 16 shards: parser threads seldom wait for one another.
  static constexpr uint32_t kShardMask = (1u << kShardBits) - 1;
  // Strings stay where they are: each chunk is twice as long as the one before.
  static constexpr uint32_t kFirstBits = 6;
  static constexpr uint32_t kFirst = 1u << kFirstBits;
  struct Shard {
    ~Shard();
    const std::string& At(uint32_t position) const;
    uint32_t Find(uint64_t hash, std::string_view text) const;
    void Add(uint64_t hash, std::string_view text);

    mutable std::mutex mutex;
    std::array<std::atomic<std::string*>, 32 - kShardBits - kFirstBits> chunks = {};
    uint32_t count = 0;
    HashIndex index;
  };

  std::array<Shard, 1u << kShardBits> shards_;
};

}  // namespace allranks::base
