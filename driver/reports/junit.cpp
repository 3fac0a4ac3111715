// JUnit's XML: a suite a file, a failed case a finding.
#include "driver/reports/markup.h"
#include "driver/reports/place.h"
#include "driver/reports/report.h"

namespace allranks::reports {
namespace {

using findings::Finding;

std::string Case(const Report& report, const Finding& finding) {
  const Place place = PlaceAt(report.files, finding.span.file, finding.span.begin);
  const std::string message = Escaped(OneLine(findings::Render(finding.message)));
  const std::string help = findings::Render(finding.help);
  std::string out = "    <testcase name=\"" + std::string(finding.code) + "\" classname=\"" + Escaped(OneLine(place.path)) + "\">\n";
  out += "      <failure type=\"" + std::string(findings::ToString(finding.severity)) + "\" message=\"" + message + "\">";
  out += Escaped(ToString(place)) + ": " + message + (help.empty() ? "" : "\n" + Escaped(help)) + "</failure>\n";
  return out + "    </testcase>\n";
}

std::string Suite(std::string_view name, size_t count, size_t failures, const std::string& cases) {
  return "  <testsuite name=\"" + Escaped(OneLine(name)) + "\" tests=\"" + std::to_string(count) + "\" failures=\"" +
         std::to_string(failures) + "\" errors=\"0\" skipped=\"0\">\n" + cases + "  </testsuite>\n";
}

}  // namespace

std::string RenderJunit(const Report& report) {
  std::string suites;
  for (size_t i = 0; i < report.findings.size();) {
    const source::FileId file = report.findings[i].span.file;
    std::string cases;
    const size_t first = i;
    for (; i < report.findings.size() && report.findings[i].span.file == file; ++i) cases += Case(report, report.findings[i]);
    suites += Suite(report.files[file].path, i - first, i - first, cases);
  }
  std::string errors;
  for (const std::string& error : report.errors) {
    errors += "    <testcase name=\"run\" classname=\"allranks\">\n      <failure type=\"error\" message=\"" + Escaped(OneLine(error)) +
              "\"></failure>\n    </testcase>\n";
  }
  if (!errors.empty()) suites += Suite("allranks", report.errors.size(), report.errors.size(), errors);
  // Readers take a report without any case for a broken one.
  if (suites.empty()) suites = Suite("allranks", 1, 0, "    <testcase name=\"No findings\" classname=\"allranks\"/>\n");
  const std::string count = std::to_string(report.findings.size() + report.errors.size());
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"allranks\" failures=\"" + count + "\">\n" + suites +
         "</testsuites>\n";
}

}  // namespace allranks::reports
