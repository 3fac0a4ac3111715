// Logging commands of Azure Pipelines: one per finding. The form is described at
// https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands
#include "driver/reports/file_place.h"
#include "driver/reports/report.h"
#include "driver/reports/text_width.h"

namespace allranks::reports {
namespace {

std::string EscapedForAzure(std::string_view text, bool property) {
  std::string out;
  const std::vector<Decoded> characters = DecodeAll(text);
  for (size_t i = 0; i < characters.size(); ++i) {
    const std::string_view bytes = text.substr(characters[i].offset, characters[i].length);
    const char c = bytes[0];
    if (c == '%') out += "%AZP25";
    else if (c == '\r') out += "%0D";
    else if (c == '\n') out += "%0A";
    else if (property && c == ';') out += "%3B";
    else if (property && c == ']') out += "%5D";
    else out += IsOfCommand(characters, i) ? "\xef\xbf\xbd" : OneLine(bytes);
  }
  return out;
}

}  // namespace

// Azure knows errors and warnings only.
std::string RenderAzure(const Report& report) {
  std::string out;
  for (const findings::Finding& finding : report.findings) {
    const Place place = PlaceInFile(report, finding.span.file, finding.span.begin);
    out += "##vso[task.logissue type=";
    out += finding.severity == findings::Severity::Error ? "error" : "warning";
    out += ";sourcepath=" + EscapedForAzure(RepositoryPath(report, place.path), true);
    out += ";linenumber=" + std::to_string(place.line) + ";columnnumber=" + std::to_string(place.column);
    out += ";code=" + std::string(finding.code) + ";]" + EscapedForAzure(OneLine(findings::Render(finding.message)), false) + "\n";
  }
  return out;
}

}  // namespace allranks::reports
