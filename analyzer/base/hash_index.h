#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace allranks::base {

// Finds elements of a store by the hash of their contents: a flat table of 32-bit indices, with as many bits of the
// hash beside each, so that a search seldom looks at an element in vain.
class HashIndex {
 public:
  static constexpr uint32_t kNotFound = 0xffffffffu;

  // The element with this hash for which `is_same(index)` holds.
  template <class IsSame>
  uint32_t Find(uint64_t hash, IsSame is_same) const {
    if (slots_.empty()) return kNotFound;
    const Slot wanted = MakeSlot(hash, 0);
    for (size_t at = wanted.hash & mask();; at = (at + 1) & mask()) {
      const Slot& slot = slots_[at];
      if (slot.element == kNotFound) return kNotFound;
      if (slot.hash == wanted.hash && is_same(slot.element)) return slot.element;
    }
  }

  // `element` must not be there yet.
  void Add(uint64_t hash, uint32_t element) {
    // At most three quarters full.
    if ((used_ + 1) * 4 > slots_.size() * 3) Grow();
    Insert(MakeSlot(hash, element));
    ++used_;
  }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t element = kNotFound;
  };

  size_t mask() const { return slots_.size() - 1; }
  // The high half is the better mixed one of a hash that ends in a multiplication.
  static Slot MakeSlot(uint64_t hash, uint32_t element) { return {static_cast<uint32_t>(hash >> 32), element}; }

  void Insert(Slot slot) {
    size_t at = slot.hash & mask();
    while (slots_[at].element != kNotFound) at = (at + 1) & mask();
    slots_[at] = slot;
  }

  void Grow() {
    constexpr size_t kSmallest = 64;
    std::vector<Slot> old(slots_.empty() ? kSmallest : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.element != kNotFound) Insert(slot);
    }
  }

  std::vector<Slot> slots_;   // a power of two of them
  size_t used_ = 0;
};

}  // namespace allranks::base
