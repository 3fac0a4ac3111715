// A table for people, as job summaries and comments of pull requests show it.
#include "driver/reports/links.h"
#include "driver/reports/place.h"
#include "driver/reports/report.h"

namespace allranks::reports {
namespace {

// GitHub cuts a summary of more than 1 MiB off as a whole.
constexpr size_t kMostRows = 1000;

// Inside a cell a bar would begin the next one, and `<` an element.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += "\\|";
    else if (c == '<') out += "&lt;";
    else if (c == '&') out += "&amp;";
    else if (c == '\n' || c == '\r') out += ' ';
    else out += c;
  }
  return out;
}

std::string CodeLink(std::string_view code) {
  const rules::Rule* rule = rules::FindRule(code);
  return rule == nullptr ? std::string(code) : "[" + std::string(code) + "](" + RuleUrl(*rule) + ")";
}

std::string TableRow(const Report& report, const findings::Finding& finding) {
  const Place place = PlaceAt(report.files, finding.span.file, finding.span.begin);
  std::string row = "| " + std::string(findings::ToString(finding.severity)) + " | ";
  row += CodeLink(finding.code) + " | `" + Cell(ToString(place)) + "` | " + Cell(OneLine(findings::Render(finding.message))) + " |\n";
  return row;
}

}  // namespace

std::string RenderMarkdown(const Report& report) {
  std::string out = "## allranks\n\n";
  if (!report.findings.empty()) {
    out += "| severity | rule | place | finding |\n|---|---|---|---|\n";
    size_t rows = 0;
    for (const findings::Finding& finding : report.findings) {
      if (++rows > kMostRows) break;
      out += TableRow(report, finding);
    }
    if (rows > kMostRows) out += "\nOnly the first " + std::to_string(kMostRows) + " findings are listed.\n";
    out += "\n";
  }
  for (const std::string& error : report.errors) out += "**error:** " + Cell(OneLine(error)) + "\n\n";
  return out + RenderSummary(report, {});
}

}  // namespace allranks::reports
