// A set of numbers that takes no memory of its own until there are many: for walks that remember where they were.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace allranks::base {

class NumberSet {
 public:
  // Whether it was not there yet. All numbers but the largest.
  bool Add(uint32_t number) {
    if ((size_ + 1) * 2 > slots().size()) Grow();
    if (!Insert(number)) return false;
    ++size_;
    return true;
  }
  size_t size() const { return size_; }

 private:
  static constexpr uint32_t kFree = 0xffffffffu;
  static constexpr size_t kFew = 64;  // a power of two

  std::span<uint32_t> slots() { return many_.empty() ? std::span<uint32_t>(few_) : std::span<uint32_t>(many_); }

  bool Insert(uint32_t number) {
    // Numbers of neighbours are neighbours: multiplied they are spread.
    constexpr uint32_t kSpread = 0x9e3779b1u;
    const std::span<uint32_t> all = slots();
    const size_t mask = all.size() - 1;
    const uint32_t spread = number * kSpread;
    size_t at = (spread ^ (spread >> 15)) & mask;
    while (all[at] != kFree && all[at] != number) at = (at + 1) & mask;
    return std::exchange(all[at], number) == kFree;
  }

  void Grow() {
    const std::span<uint32_t> before = slots();
    const std::vector<uint32_t> old(before.begin(), before.end());
    many_.assign(2 * old.size(), kFree);
    for (const uint32_t number : old) {
      if (number != kFree) Insert(number);
    }
  }

  std::array<uint32_t, kFew> few_ = [] {
    std::array<uint32_t, kFew> none{};
    none.fill(kFree);
    return none;
  }();
  std::vector<uint32_t> many_;
  size_t size_ = 0;
};

}  // namespace allranks::base
