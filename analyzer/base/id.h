#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace allranks::base {

// A 32-bit name for an element of a store. `Tag` keeps ids of different stores apart.
template <class Tag>
struct Id {
  static constexpr uint32_t kNoneIndex = 0xffffffffu;

  uint32_t index = kNoneIndex;

  static constexpr Id None() { return {}; }
  constexpr bool has_value() const { return index != kNoneIndex; }
  constexpr explicit operator bool() const { return has_value(); }
  friend constexpr auto operator<=>(Id, Id) = default;
};

// A vector that only the matching id type can index.
template <class IdType, class T>
class IdVector {
 public:
  IdType Add(T value) {
    values_.push_back(std::move(value));
    return IdType{static_cast<uint32_t>(values_.size() - 1)};
  }
  T& operator[](IdType id) { return values_[id.index]; }
  const T& operator[](IdType id) const { return values_[id.index]; }
  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  IdType next_id() const { return IdType{static_cast<uint32_t>(values_.size())}; }
  void resize(size_t size, const T& value = T()) { values_.resize(size, value); }
  void reserve(size_t size) { values_.reserve(size); }
  void shrink_to_fit() { values_.shrink_to_fit(); }
  size_t byte_size() const { return values_.capacity() * sizeof(T); }
  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  std::span<const T> all() const { return values_; }

 private:
  std::vector<T> values_;
};

}  // namespace allranks::base

template <class Tag>
struct std::hash<allranks::base::Id<Tag>> {
  size_t operator()(allranks::base::Id<Tag> id) const noexcept { return std::hash<uint32_t>()(id.index); }
};
