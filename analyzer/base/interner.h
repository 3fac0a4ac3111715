#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/hash_index.h"
#include "analyzer/base/id.h"

namespace allranks::base {

// An interned string: equal text has the equal id, within one `Interner`. The numbers depend on the order
// in which threads intern, so results are never sorted by them.
using NameId = Id<struct NameTag>;

// Thread-safe table of strings; views stay valid as long as the table lives.
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
  struct Shard {
    mutable std::mutex mutex;
    std::deque<std::string> texts;
    HashIndex index;
    uint32_t Find(uint64_t hash, std::string_view text) const;
  };

  std::array<Shard, 1u << kShardBits> shards_;
};

}  // namespace allranks::base
