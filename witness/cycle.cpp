#include "witness/cycle.h"

#include <algorithm>
#include <deque>

namespace allranks::witness {
namespace {

class Graph {
 public:
  Graph(const std::vector<StuckOp>& stuck, uint32_t world) : edges_(world, nullptr) {
    for (const StuckOp& one : stuck) edges_[one.rank] = &one.waits_for;
  }

  // A rank on a circle; -1: there is none. Depth first, without recursion.
  int64_t OnCircle() const {
    enum : uint8_t { kNew, kOpen, kDone };
    std::vector<uint8_t> state(edges_.size(), kNew);
    std::vector<std::pair<uint32_t, size_t>> path;
    for (uint32_t start = 0; start < edges_.size(); ++start) {
      if (state[start] != kNew || edges_[start] == nullptr) continue;
      path.emplace_back(start, 0);
      state[start] = kOpen;
      while (!path.empty()) {
        auto& [rank, next] = path.back();
        if (edges_[rank] == nullptr || next == edges_[rank]->size()) {
          state[rank] = kDone;
          path.pop_back();
          continue;
        }
        const uint32_t to = (*edges_[rank])[next++];
        if (state[to] == kOpen) return to;
        if (state[to] == kDone) continue;
        state[to] = kOpen;
        path.emplace_back(to, 0);
      }
    }
    return -1;
  }

  // Breadth first from `start` back to it.
  std::vector<uint32_t> ShortestThrough(uint32_t start) const {
    std::vector<int64_t> from(edges_.size(), -1);
    std::deque<uint32_t> waiting = {start};
    while (!waiting.empty()) {
      const uint32_t rank = waiting.front();
      waiting.pop_front();
      if (edges_[rank] == nullptr) continue;
      for (const uint32_t to : *edges_[rank]) {
        if (from[to] >= 0) continue;
        from[to] = rank;
        if (to == start) return PathTo(start, from);
        waiting.push_back(to);
      }
    }
    return {};
  }

 private:
  static std::vector<uint32_t> PathTo(uint32_t start, const std::vector<int64_t>& from) {
    std::vector<uint32_t> path;
    for (int64_t rank = from[start]; rank != start; rank = from[static_cast<size_t>(rank)]) {
      path.push_back(static_cast<uint32_t>(rank));
    }
    path.push_back(start);
    std::reverse(path.begin(), path.end());
    return path;
  }

  std::vector<const std::vector<uint32_t>*> edges_;
};

}  // namespace

std::vector<uint32_t> FindCycle(const std::vector<StuckOp>& stuck, uint32_t world) {
  const Graph graph(stuck, world);
  const int64_t rank = graph.OnCircle();
  return rank < 0 ? std::vector<uint32_t>() : graph.ShortestThrough(static_cast<uint32_t>(rank));
}

}  // namespace allranks::witness
