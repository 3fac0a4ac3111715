#include "analyzer/base/innermost.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace allranks::base {
namespace {

struct Border {
  uint32_t position = 0;
  bool begins = false;
  uint32_t range = 0;
};

std::vector<Border> BordersOf(std::span<const Innermost::Range> ranges) {
  std::vector<Border> borders;
  borders.reserve(2 * ranges.size());
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].begin >= ranges[i].end) continue;
    borders.push_back({ranges[i].begin, true, i});
    borders.push_back({ranges[i].end, false, i});
  }
  std::ranges::sort(borders, {}, &Border::position);
  return borders;
}

}  // namespace

Innermost::Innermost(std::span<const Range> ranges) {
  const std::vector<Border> borders = BordersOf(ranges);
  // Those around the position at hand, the innermost first.
  const auto is_within = [&](uint32_t a, uint32_t b) {
    const uint32_t length = ranges[a].end - ranges[a].begin, other = ranges[b].end - ranges[b].begin;
    return length != other ? length < other : a > b;
  };
  std::set<uint32_t, decltype(is_within)> around(is_within);
  for (size_t i = 0; i < borders.size(); ++i) {
    if (borders[i].begins) around.insert(borders[i].range);
    else around.erase(borders[i].range);
    const bool is_last_here = i + 1 == borders.size() || borders[i + 1].position != borders[i].position;
    const uint32_t innermost = around.empty() ? kNone : *around.begin();
    if (is_last_here && (from_.empty() || from_.back().second != innermost)) from_.emplace_back(borders[i].position, innermost);
  }
}

uint32_t Innermost::At(uint32_t position) const {
  const auto next = std::ranges::upper_bound(from_, position, {}, &std::pair<uint32_t, uint32_t>::first);
  return next == from_.begin() ? kNone : std::prev(next)->second;
}

}  // namespace allranks::base
