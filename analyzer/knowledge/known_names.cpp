#include "analyzer/knowledge/known_names.h"

#include <algorithm>

#include "analyzer/knowledge/spelling.h"

namespace allranks::knowledge {
namespace {

// Where the part that starts at `from` ends.
size_t EndOfPart(std::string_view dotted, size_t from) { return std::min(dotted.find('.', from), dotted.size()); }

// Whether `part` is `known` with a letter wrong, missing or too many, or two swapped. Another ending is another name, `all_gatherv`, `init_b`
// beside `init_a`, and so is another first letter: `get_rank`, `set_rank`.
bool IsMisspelt(std::string_view part, std::string_view known) {
  constexpr size_t kShortest = 5;
  const std::string_view without_last = part.substr(0, part.size() - 1);
  if (part.front() != known.front() || part.starts_with(known)) return false;
  return !(part.size() == known.size() && known.starts_with(without_last)) && IsSlip(part, known, kShortest);
}

}  // namespace

void KnownNames::Add(std::string_view dotted) {
  for (size_t end = dotted.size(); end != std::string_view::npos && names_.emplace(dotted.substr(0, end)).second;) {
    end = dotted.rfind('.', end - 1);
  }
}

std::string KnownNames::Meant(std::string_view dotted) const {
  size_t start = 0;
  size_t end = EndOfPart(dotted, start);
  while (end != dotted.size() && names_.contains(dotted.substr(0, end))) {
    start = end + 1;
    end = EndOfPart(dotted, start);
  }
  if (names_.contains(dotted.substr(0, end))) return {};
  const std::string_view before = dotted.substr(0, start), part = dotted.substr(start, end - start);
  for (auto at = names_.lower_bound(before); at != names_.end() && at->starts_with(before); ++at) {
    const std::string_view known = std::string_view(*at).substr(start);
    if (!known.empty() && known.find('.') == std::string_view::npos && IsMisspelt(part, known)) return *at + std::string(dotted.substr(end));
  }
  return {};
}

}  // namespace allranks::knowledge
