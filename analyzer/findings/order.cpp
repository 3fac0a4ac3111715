#include <algorithm>
#include <tuple>

#include "analyzer/findings/finding.h"

namespace allranks::findings {
namespace {

// Two rules may tell the same thing of the same place once each; one rule tells it once.
bool SaysTheSame(const Finding& a, const Finding& b) {
  return a.span == b.span && a.code == b.code && Render(a.message) == Render(b.message);
}

}  // namespace

void SortAndDeduplicate(std::vector<Finding>& findings, const std::vector<uint32_t>& path_rank) {
  auto rank = [&](source::FileId file) {
    return file.index < path_rank.size() ? path_rank[file.index] : source::FileId::kNoneIndex;
  };
  auto key = [&](const Finding& f) { return std::make_tuple(rank(f.span.file), f.span.begin, f.span.end, f.code); };
  // The surest of equal findings comes first and stays; the message decides what is left.
  std::stable_sort(findings.begin(), findings.end(), [&](const Finding& a, const Finding& b) {
    const auto key_a = key(a), key_b = key(b);
    if (key_a != key_b) return key_a < key_b;
    const std::string text_a = Render(a.message), text_b = Render(b.message);
    return text_a != text_b ? text_a < text_b : a.confidence > b.confidence;
  });
  findings.erase(std::unique(findings.begin(), findings.end(), SaysTheSame), findings.end());
}

}  // namespace allranks::findings
