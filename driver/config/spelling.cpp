#include "driver/config/spelling.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace allranks::config {
namespace {

constexpr size_t kLongestWord = 64;

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Edits that lead from one word to the other: insert, delete, replace, swap neighbours; case is not counted.
size_t Distance(std::string_view a, std::string_view b) {
  std::array<std::array<size_t, kLongestWord + 1>, kLongestWord + 1> cost;
  for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = cost[i - 1][j - 1] + (Lower(a[i - 1]) == Lower(b[j - 1]) ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) && Lower(a[i - 2]) == Lower(b[j - 1]);
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > kLongestWord) return {};
  // A third of the letters may be wrong, in a short word one.
  size_t best_distance = std::max<size_t>(word.size() / 3, 1) + 1;
  std::string_view best;
  for (const std::string_view candidate : candidates) {
    const size_t longer = std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size());
    if (candidate.size() > kLongestWord || longer >= best_distance) continue;
    const size_t distance = Distance(word, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view nearest = Nearest(word, candidates);
  return nearest.empty() ? std::string() : "; did you mean `" + std::string(nearest) + "`?";
}

}  // namespace allranks::config
