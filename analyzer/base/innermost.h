// The innermost of many ranges at a place: made once in n log n, and asked in log n.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace allranks::base {

class Innermost {
 public:
  // From `begin` up to, and without, `end`.
  struct Range {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  static constexpr uint32_t kNone = 0xffffffffu;

  explicit Innermost(std::span<const Range> ranges);

  // The shortest range that holds a position, as its place in the list; of equally long ones the last. `kNone`: none does.
  uint32_t At(uint32_t position) const;

 private:
  std::vector<std::pair<uint32_t, uint32_t>> from_;  // positions in order, each with what is innermost from there on
};

}  // namespace allranks::base
