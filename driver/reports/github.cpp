// Annotations of a GitHub workflow: one command a finding on the standard output of a step.
#include "driver/reports/links.h"
#include "driver/reports/file_place.h"
#include "driver/reports/report.h"
#include "driver/reports/text_width.h"

namespace allranks::reports {
namespace {

// The ends of lines have a spelling; whatever else steers a terminal has none, and logs are read in one.
std::string Replaced(std::string_view text, std::string_view also) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  const std::vector<Decoded> characters = DecodeAll(text);
  for (size_t i = 0; i < characters.size(); ++i) {
    const std::string_view bytes = text.substr(characters[i].offset, characters[i].length);
    const char c = bytes[0];
    const bool escape = c == '%' || c == '\r' || c == '\n' || also.find(c) != std::string_view::npos;
    const auto byte = static_cast<unsigned char>(c);
    if (escape) out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    else out += IsOfCommand(characters, i) ? "\xef\xbf\xbd" : OneLine(bytes);
  }
  return out;
}
std::string Value(std::string_view text) { return Replaced(text, ":,"); }
std::string Data(std::string_view text) { return Replaced(text, ""); }

std::string_view CommandOf(findings::Severity severity) {
  switch (severity) {
    case findings::Severity::Info: return "notice";
    case findings::Severity::Warning: return "warning";
    case findings::Severity::Error: return "error";
  }
  return "error";
}

}  // namespace

std::string RenderGithub(const Report& report) {
  std::string out;
  for (const findings::Finding& finding : report.findings) {
    const Place begin = PlaceInFile(report, finding.span.file, finding.span.begin);
    const Place end = PlaceInFile(report, finding.span.file, finding.span.end);
    const Place shown = PlaceAt(report.files, finding.span.file, finding.span.begin);
    out += "::" + std::string(CommandOf(finding.severity)) + " title=" + Value("allranks (" + std::string(finding.code) + ")");
    out += ",file=" + Value(RepositoryPath(report, begin.path)) + ",line=" + std::to_string(begin.line);
    out += ",col=" + std::to_string(begin.column) + ",endLine=" + std::to_string(end.line);
    if (end.line == begin.line && end.column > begin.column) out += ",endColumn=" + std::to_string(end.column);
    out += "::" + Data(ToString(shown) + ": " + std::string(finding.code) + " " + OneLine(findings::Render(finding.message))) + "\n";
  }
  return out;
}

}  // namespace allranks::reports
