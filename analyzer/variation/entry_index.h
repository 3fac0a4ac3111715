// Where a list has its entry about an attribute of an object. Two lists that grew out of one have it at the same place
// nearly always, so that is looked at first.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace allranks::variation {

template <typename Entry>
class EntryIndex {
 public:
  // `entries` must live as long; what is added to them later is not found.
  explicit EntryIndex(const std::vector<Entry>& entries) : entries_(entries), size_(entries.size()) {}

  size_t size() const { return size_; }

  // Where the entry is that is about the same as `other`, which is at `likely` in its own list; the size if there is none.
  template <typename Other>
  size_t Find(const Other& other, size_t likely) {
    if (likely < size_ && entries_[likely].object == other.object && entries_[likely].attr == other.attr) return likely;
    for (; indexed_ < size_; ++indexed_) places_.try_emplace(KeyOf(entries_[indexed_]), indexed_);
    const auto found = places_.find(KeyOf(other));
    return found == places_.end() ? size_ : found->second;
  }

 private:
  template <typename Any>
  static uint64_t KeyOf(const Any& entry) {
    return uint64_t{entry.object.index} << 32 | entry.attr.index;
  }

  const std::vector<Entry>& entries_;
  size_t size_;
  size_t indexed_ = 0;
  std::unordered_map<uint64_t, size_t> places_;
};

}  // namespace allranks::variation
