#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace allranks::base {

// A growing array whose elements never move, so references to them stay valid. Runs of elements added together lie
// side by side.
template <class T, uint32_t kChunkBits = 12>
class ChunkedVector {
 public:
  static constexpr uint32_t kChunkSize = 1u << kChunkBits;

  const T& operator[](uint32_t index) const { return chunks_[index >> kChunkBits][index & (kChunkSize - 1)]; }

  uint32_t Add(const T& value) { return AddRun({&value, 1}); }

  // At most kChunkSize elements; returns the index of the first.
  uint32_t AddRun(std::span<const T> run) {
    if (chunks_.empty() || used_ + run.size() > kChunkSize) {
      chunks_.push_back(std::make_unique<T[]>(kChunkSize));
      used_ = 0;
    }
    const auto start = static_cast<uint32_t>((chunks_.size() - 1) * kChunkSize + used_);
    for (const T& value : run) chunks_.back()[used_++] = value;
    return start;
  }

  std::span<const T> Run(uint32_t start, size_t count) const {
    if (count == 0) return {};
    return {&(*this)[start], count};
  }

 private:
  std::vector<std::unique_ptr<T[]>> chunks_;
  size_t used_ = 0;  // of the last chunk
};

}  // namespace allranks::base
