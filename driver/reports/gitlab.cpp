// GitLab's code quality report: a JSON array. Of equal fingerprints GitLab keeps one without a word.
#include <set>

#include "driver/reports/json_writer.h"
#include "driver/reports/file_place.h"
#include "driver/reports/report.h"

namespace allranks::reports {
namespace {

std::string_view GitlabSeverity(findings::Severity severity) {
  switch (severity) {
    case findings::Severity::Info: return "info";
    case findings::Severity::Warning: return "minor";
    case findings::Severity::Error: return "major";
  }
  return "major";
}

void WriteGitlabPoint(JsonWriter& json, std::string_view key, const Place& place) {
  json.Key(key).BeginObject().Member("line", place.line).Member("column", place.column).EndObject();
}

}  // namespace

std::string RenderGitlab(const Report& report) {
  JsonWriter json;
  std::set<std::string> seen;
  json.BeginArray();
  for (const findings::Finding& finding : report.findings) {
    std::string fingerprint = finding.fingerprint;
    while (!seen.insert(fingerprint).second) fingerprint += "+";
    const Place begin = PlaceInFile(report, finding.span.file, finding.span.begin);
    json.BeginObject().Member("description", std::string(finding.code) + ": " + OneLine(findings::Render(finding.message)));
    json.Member("check_name", finding.code).Member("fingerprint", fingerprint).Member("severity", GitlabSeverity(finding.severity));
    json.Key("location").BeginObject().Member("path", RepositoryPath(report, begin.path));
    json.Key("positions").BeginObject();
    WriteGitlabPoint(json, "begin", begin);
    WriteGitlabPoint(json, "end", PlaceInFile(report, finding.span.file, finding.span.end));
    json.EndObject().EndObject().EndObject();
  }
  json.EndArray();
  return json.Take();
}

}  // namespace allranks::reports
