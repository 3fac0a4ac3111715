#include "driver/cli/fold_copies.h"

#include <map>
#include <span>
#include <string>
#include <tuple>

#include <fmt/format.h>

namespace allranks::cli {
namespace {

using findings::Finding;

// Two that are alike are two scripts, and both are told.
constexpr size_t kFewest = 3;

// Equal for what copies share: the rule, the function with its code, the place in it, how sure it is, and what is said of it, as equal
// code may be wrong for another reason. The number tells equal places of one file apart.
using Shared = std::tuple<uint64_t, std::string_view, findings::Severity, findings::Confidence, std::string, std::string_view, std::string, int>;

std::string_view TextAt(const source::SourceFiles& files, source::Span span) {
  return std::string_view(files[span.file].text).substr(span.begin, span.end - span.begin);
}

// The message, and the reasons with their code.
std::string SaidOf(const source::SourceFiles& files, const Finding& finding) {
  std::string said = findings::Render(finding.message);
  for (const findings::Label& label : finding.labels) {
    said += '\n';
    said += findings::Render(label.text);
    said += '\n';
    said += TextAt(files, label.span);
  }
  return said;
}

Shared SharedOf(const source::SourceFiles& files, const Finding& finding) {
  const std::string_view code = TextAt(files, finding.span);
  return {finding.function_code, finding.code, finding.severity, finding.confidence, finding.function, code, SaidOf(files, finding), 0};
}

// Where all of the copies are.
void TellOf(const source::SourceFiles& files, const std::vector<Finding>& findings, std::span<const size_t> copies, Finding& first) {
  std::string others;
  for (const size_t copy : copies.subspan(1)) {
    const source::Span span = findings[copy].span;
    others += fmt::format("{}`{}:{}`", others.empty() ? "" : ", ", files[span.file].path, source::Locate(files[span.file], span.begin).line + 1);
  }
  first.labels.push_back({findings[copies[0]].span, findings::LabelRole::Note, {"the same in this copy of the code, and at {}", {others}}});
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
    TellOf(files, findings, std::span(places).subspan(1), findings[places[0]]);
    for (size_t i = 1; i < places.size(); ++i) is_told[places[i]] = false;
  }
  std::vector<Finding> kept;
  for (size_t i = 0; i < findings.size(); ++i) {
    if (is_told[i]) kept.push_back(std::move(findings[i]));
  }
  findings = std::move(kept);
}

}  // namespace allranks::cli
