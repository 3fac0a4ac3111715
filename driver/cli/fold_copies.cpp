#include "driver/cli/fold_copies.h"

#include <map>
#include <string>
#include <tuple>

namespace allranks::cli {
namespace {

using findings::Finding;

// Two that are alike are two scripts, and both are told.
constexpr size_t kFewest = 3;

// Equal for what copies share: the rule, the function with its code, the place in it, and how sure it is. The number tells
// equal places of one file apart.
using Shared = std::tuple<uint64_t, std::string_view, findings::Severity, findings::Confidence, std::string, std::string_view, int>;

Shared SharedOf(const source::SourceFiles& files, const Finding& finding) {
  const source::Span span = finding.span;
  const std::string_view code = std::string_view(files[span.file].text).substr(span.begin, span.end - span.begin);
  return {finding.function_code, finding.code, finding.severity, finding.confidence, finding.function, code, 0};
}

void TellOf(const Finding& copy, size_t others, Finding& first) {
  first.labels.push_back({copy.span, findings::LabelRole::Note,
                          {"the same in this copy of the code, and in {} more", {std::to_string(others)}}});
}

}  // namespace

void FoldCopies(const source::SourceFiles& files, std::vector<Finding>& findings) {
  std::map<Shared, std::vector<size_t>> alike;
  std::map<std::pair<uint32_t, Shared>, int> seen;
  for (size_t i = 0; i < findings.size(); ++i) {
    const bool is_of_tool = findings[i].code.starts_with("AR0");
    if (findings[i].function_code == 0 || is_of_tool) continue;
    Shared shared = SharedOf(files, findings[i]);
    std::get<int>(shared) = seen[{findings[i].span.file.index, shared}]++;
    alike[shared].push_back(i);
  }
  std::vector<bool> is_told(findings.size(), true);
  for (const auto& [shared, places] : alike) {
    if (places.size() < kFewest) continue;
    TellOf(findings[places[1]], places.size() - 2, findings[places[0]]);
    for (size_t i = 1; i < places.size(); ++i) is_told[places[i]] = false;
  }
  std::vector<Finding> kept;
  for (size_t i = 0; i < findings.size(); ++i) {
    if (is_told[i]) kept.push_back(std::move(findings[i]));
  }
  findings = std::move(kept);
}

}  // namespace allranks::cli
