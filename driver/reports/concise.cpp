// One line per finding, as compilers write it: editors and `grep` understand it.
#include "driver/reports/paint.h"
#include "driver/reports/place.h"

namespace allranks::reports {

std::string RenderConcise(const Report& report, const TextStyle& style) {
  std::string out;
  for (const findings::Finding& finding : report.findings) {
    out += Paint(style, Ink::Bold, ToString(PlaceAt(report.files, finding.span.file, finding.span.begin))) + ": ";
    // GCC's word for it: readers of its lines know three levels.
    const std::string_view level = finding.severity == findings::Severity::Info ? "note" : findings::ToString(finding.severity);
    out += Paint(style, InkOf(finding.severity), std::string(level) + ": " + std::string(finding.code)) + " ";
    out += OneLine(findings::Render(finding.message)) + "\n";
  }
  if (!style.quiet) out += RenderSummary(report, style);
  return out;
}

}  // namespace allranks::reports
