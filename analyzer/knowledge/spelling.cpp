#include "analyzer/knowledge/spelling.h"

#include <algorithm>
#include <vector>

namespace allranks::knowledge {
namespace {

constexpr size_t kLongestWord = 64;

// Letters to insert, delete or replace to make `b` of `a`, one row of the usual table at a time.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// "train_lora_decoder.py" has train, lora, decoder and py.
std::vector<std::string_view> SortedParts(std::string_view name) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find_first_of("_-./ ", at), name.size());
    parts.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  std::ranges::sort(parts);
  return parts;
}

}  // namespace

std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > kLongestWord) return {};
  // A third of the letters may be wrong, two in a short word: swapped neighbours count as two. The same parts in another order are one mistake.
  size_t best_distance = std::max<size_t>(word.size() / 3, 2) + 1;
  std::string_view best;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongestWord || candidate.size() < 2) continue;
    const bool has_same_parts = candidate.size() == word.size() && candidate != word && SortedParts(candidate) == SortedParts(word);
    const size_t distance = has_same_parts ? 1 : Distance(word, candidate);
    if (distance >= best_distance || distance >= candidate.size()) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

bool IsSlip(std::string_view word, std::string_view name, size_t shortest) {
  if (std::min(word.size(), name.size()) < shortest) return false;
  while (!word.empty() && !name.empty() && word.front() == name.front()) {
    word.remove_prefix(1);
    name.remove_prefix(1);
  }
  while (!word.empty() && !name.empty() && word.back() == name.back()) {
    word.remove_suffix(1);
    name.remove_suffix(1);
  }
  const bool is_swapped = word.size() == 2 && name.size() == 2 && word[0] == name[1] && word[1] == name[0];
  return is_swapped || (word.size() <= 1 && name.size() <= 1);
}

std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view nearest = Nearest(word, candidates);
  return nearest.empty() ? std::string() : "; did you mean `" + std::string(nearest) + "`?";
}

}  // namespace allranks::knowledge
