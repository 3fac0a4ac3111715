#include "analyzer/findings/finding.h"

#include <algorithm>

namespace allranks::findings {

std::string_view ToString(Severity severity) {
  switch (severity) {
    case Severity::Info: return "info";
    case Severity::Warning: return "warning";
    case Severity::Error: return "error";
  }
  return "error";
}

std::string_view ToString(Confidence confidence) {
  switch (confidence) {
    case Confidence::Possible: return "possible";
    case Confidence::Likely: return "likely";
    case Confidence::Certain: return "certain";
  }
  return "certain";
}

std::string_view ToString(FlightRecord record) {
  switch (record) {
    case FlightRecord::None: return "";
    case FlightRecord::TypeMismatch: return "collective type mismatch";
    case FlightRecord::MissingRanks: return "missing ranks";
    case FlightRecord::SizeMismatch: return "size or syntax mismatch";
    case FlightRecord::DtypeMismatch: return "dtype mismatch";
  }
  return "";
}

void Assume(Finding& finding, Assumptions assumptions) {
  finding.assumptions.Add(assumptions);
  finding.confidence = std::min(finding.confidence, ConfidenceOf(finding.assumptions));
}

std::string Render(const Text& text) {
  std::string out;
  size_t at = 0;
  for (const std::string& arg : text.args) {
    const size_t hole = text.format.find("{}", at);
    if (hole == std::string_view::npos) break;
    out.append(text.format, at, hole - at);
    out += arg;
    at = hole + 2;
  }
  out.append(text.format, at);
  return out;
}

}  // namespace allranks::findings
