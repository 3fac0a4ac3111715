#include <algorithm>
#include <set>

#include "driver/reports/coverage.h"
#include "driver/reports/paint.h"
#include "driver/reports/place.h"

namespace allranks::reports {
namespace {

std::string Counted(size_t count, std::string_view one) {
  return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

// "2 errors, 1 warning"
std::string BySeverity(const Report& report) {
  std::string out;
  for (const findings::Severity severity :
       {findings::Severity::Error, findings::Severity::Warning, findings::Severity::Info}) {
    const auto count = std::count_if(report.findings.begin(), report.findings.end(),
                                     [&](const findings::Finding& f) { return f.severity == severity; });
    if (count == 0) continue;
    if (!out.empty()) out += ", ";
    out += severity == findings::Severity::Info ? Counted(static_cast<size_t>(count), "note")
                                                : Counted(static_cast<size_t>(count), findings::ToString(severity));
  }
  return out;
}

std::string LedgerText(const Report& report) {
  const CoverageTotals totals = Totals(report);
  if (totals.all() == 0) return {};
  const std::pair<size_t, std::string_view> kinds[] = {
      {totals.flagged, "flagged"}, {totals.proven, "proven aligned"}, {totals.aligned, "aligned as far as read"}, {totals.unknown, "unknown"}};
  std::string out;
  for (const auto& [count, kind] : kinds) {
    if (count > 0) out += (out.empty() ? "; collective calls: " : ", ") + std::to_string(count) + " " + std::string(kind);
  }
  return out;
}

// A job that hung because of one of them is worth a word.
std::string KnownText(const Report& report) {
  const auto seen = std::ranges::count_if(report.known, [&](const findings::Finding& finding) {
    const Verification* verification = VerificationOf(report, finding);
    return verification != nullptr && verification->in_job;
  });
  return std::to_string(report.known.size()) + " in the baseline" + (seen > 0 ? ", " + std::to_string(seen) + " of them seen in a job" : "");
}

}  // namespace

std::string RenderSummary(const Report& report, const TextStyle& style) {
  std::set<uint32_t> files;
  for (const findings::Finding& finding : report.findings) files.insert(finding.span.file.index);
  const std::string checked = Counted(report.files_checked, "file");
  std::string out;
  if (report.findings.empty()) {
    out = Paint(style, Ink::Good, "No findings") + " in " + checked;
  } else {
    out = Paint(style, Ink::Bold, "Found " + BySeverity(report)) + " in " + std::to_string(files.size()) + " of " + checked;
  }
  std::string hidden;
  if (!report.suppressed.empty()) hidden = std::to_string(report.suppressed.size()) + " suppressed";
  if (!report.known.empty()) hidden += (hidden.empty() ? "" : ", ") + KnownText(report);
  if (!hidden.empty()) out += " (" + hidden + ")";
  out += LedgerText(report) + ".\n";
  for (const std::string& note : report.notes) out += OneLine(note) + "\n";
  return out;
}

}  // namespace allranks::reports
