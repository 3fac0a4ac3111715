// A map from numbers to something small: for memos, of which there are many and most hold little. One look at a flat table finds an
// entry, and none has memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace allranks::base {

template <class T, class Number = uint32_t>
class NumberMap {
 public:
  // None if there is nothing for it. Holds until something is added.
  const T* Find(Number number) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[PlaceOf(number)];
    return slot.number == number ? &slot.value : nullptr;
  }

  // What is there for it already stays. All numbers but the largest.
  void Add(Number number, T value) {
    if ((size_ + 1) * 4 > slots_.size() * 3) Grow();
    Slot& slot = slots_[PlaceOf(number)];
    if (slot.number == number) return;
    slot = {number, std::move(value)};
    ++size_;
  }

 private:
  static constexpr Number kFree = ~Number{0};
  static constexpr size_t kSmallest = 16;  // a power of two

  struct Slot {
    Number number = kFree;
    T value{};
  };

  // Where it stands, or would stand.
  size_t PlaceOf(Number number) const {
    // Numbers of neighbours are neighbours: multiplied they are spread.
    constexpr uint64_t kSpread = 0x9e3779b97f4a7c15u;
    const size_t mask = slots_.size() - 1;
    size_t at = (number * kSpread >> 32) & mask;
    while (slots_[at].number != kFree && slots_[at].number != number) at = (at + 1) & mask;
    return at;
  }

  void Grow() {
    std::vector<Slot> old(slots_.empty() ? kSmallest : 2 * slots_.size());
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.number != kFree) slots_[PlaceOf(slot.number)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two of them
  size_t size_ = 0;
};

}  // namespace allranks::base
