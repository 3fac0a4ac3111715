// Reviewdog's format. Columns count bytes from one.
#include "driver/reports/json_writer.h"
#include "driver/reports/links.h"
#include "driver/reports/file_place.h"
#include "driver/reports/report.h"

namespace allranks::reports {
namespace {

using findings::Finding;

std::string_view RdjsonSeverity(findings::Severity severity) {
  switch (severity) {
    case findings::Severity::Info: return "INFO";
    case findings::Severity::Warning: return "WARNING";
    case findings::Severity::Error: return "ERROR";
  }
  return "ERROR";
}

void WriteRange(JsonWriter& json, const Report& report, const source::Span& span) {
  json.Key("range").BeginObject();
  for (const auto& [key, offset] : {std::pair("start", span.begin), std::pair("end", span.end)}) {
    const Place place = PlaceInFile(report, span.file, offset, source::ColumnUnit::Utf8);
    json.Key(key).BeginObject().Member("line", place.line).Member("column", place.column).EndObject();
  }
  json.EndObject();
}

// A suggestion is one replacement in the finding's own file: of other fixes a part would be worse than nothing.
void WriteSuggestions(JsonWriter& json, const Report& report, const Finding& finding) {
  json.Key("suggestions").BeginArray();
  for (const findings::Fix& fix : finding.fixes) {
    if (report.files[finding.span.file].is_notebook() || fix.edits.size() != 1 || fix.edits[0].span.file != finding.span.file) continue;
    json.BeginObject();
    WriteRange(json, report, fix.edits[0].span);
    json.Member("text", fix.edits[0].replacement).EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string RenderRdjson(const Report& report) {
  JsonWriter json;
  json.BeginObject().Key("source").BeginObject().Member("name", "allranks").Member("url", Homepage()).EndObject();
  json.Key("diagnostics").BeginArray();
  for (const Finding& finding : report.findings) {
    json.BeginObject().Member("message", OneLine(findings::Render(finding.message)));
    json.Key("location").BeginObject().Member("path", report.files[finding.span.file].path);
    WriteRange(json, report, finding.span);
    json.EndObject().Member("severity", RdjsonSeverity(finding.severity));
    json.Key("code").BeginObject().Member("value", finding.code);
    if (const rules::Rule* rule = rules::FindRule(finding.code)) json.Member("url", RuleUrl(*rule));
    json.EndObject();
    WriteSuggestions(json, report, finding);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace allranks::reports
