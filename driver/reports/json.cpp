// The stable machine format; docs/json-format.md describes it. Lines and columns count from one, columns in code points.
#include "driver/reports/coverage.h"
#include "driver/reports/json_writer.h"
#include "driver/reports/place.h"
#include "rules/rule.h"
#include "witness/json.h"

namespace allranks::reports {
namespace {

using findings::Finding;

constexpr uint64_t kFormatVersion = 1;

void WritePoint(JsonWriter& json, std::string_view key, const Place& place) {
  json.Key(key).BeginObject().Member("line", place.line).Member("column", place.column).EndObject();
}

void WriteLocation(JsonWriter& json, const Report& report, const source::Span& span) {
  const Place start = PlaceAt(report.files, span.file, span.begin);
  json.Key("location").BeginObject().Member("path", start.path);
  if (start.cell != 0) json.Member("cell", start.cell);
  WritePoint(json, "start", start);
  WritePoint(json, "end", PlaceAt(report.files, span.file, span.end));
  json.EndObject();
}

void WriteLabels(JsonWriter& json, const Report& report, const Finding& finding) {
  json.Key("labels").BeginArray();
  for (const findings::Label& label : finding.labels) {
    json.BeginObject().Member("role", RoleName(label.role)).Member("message", findings::Render(label.text));
    WriteLocation(json, report, label.span);
    json.EndObject();
  }
  json.EndArray();
}

std::string_view ApplicabilityName(findings::Applicability applicability) {
  switch (applicability) {
    case findings::Applicability::Safe: return "safe";
    case findings::Applicability::Unsafe: return "unsafe";
    case findings::Applicability::DisplayOnly: return "display";
  }
  return "display";
}

void WriteFixes(JsonWriter& json, const Report& report, const Finding& finding) {
  json.Key("fixes").BeginArray();
  for (const findings::Fix& fix : finding.fixes) {
    json.BeginObject().Member("title", fix.title).Member("applicability", ApplicabilityName(fix.applicability));
    json.Key("edits").BeginArray();
    for (const findings::Edit& edit : fix.edits) {
      json.BeginObject();
      WriteLocation(json, report, edit.span);
      json.Member("replacement", edit.replacement).EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray();
}

void WriteFinding(JsonWriter& json, const Report& report, const Finding& finding) {
  const rules::Rule* rule = rules::FindRule(finding.code);
  json.BeginObject();
  json.Member("code", finding.code).Member("name", rule == nullptr ? "" : rule->name);
  json.Member("severity", findings::ToString(finding.severity));
  json.Member("confidence", findings::ToString(finding.confidence));
  WriteAssumptions(json, finding.assumptions);
  json.Member("message", findings::Render(finding.message));
  WriteLocation(json, report, finding.span);
  json.Member("function", finding.function).Member("fingerprint", finding.fingerprint);
  WriteLabels(json, report, finding);
  json.Member("help", findings::Render(finding.help)).Member("flightRecorder", ToString(finding.flight_record));
  WriteFixes(json, report, finding);
  json.Key("witness").Raw(finding.witness ? witness::WriteJson(*finding.witness) : "null");
  json.EndObject();
}

}  // namespace

std::string RenderJsonLines(const Report& report) {
  std::string out;
  for (const Finding& finding : report.findings) {
    JsonWriter json(JsonLayout::OneLine);
    WriteFinding(json, report, finding);
    out += json.Take();
  }
  return out;
}

std::string RenderJson(const Report& report) {
  JsonWriter json;
  json.BeginObject().Member("version", kFormatVersion).Member("tool", "allranks " + std::string(report.version));
  json.Key("findings").BeginArray();
  for (const Finding& finding : report.findings) WriteFinding(json, report, finding);
  json.EndArray();
  json.Member("filesChecked", report.files_checked).Member("suppressed", report.suppressed.size());
  WriteLedger(json, report, false);
  json.Key("errors").BeginArray();
  for (const std::string& error : report.errors) json.String(error);
  json.EndArray().Key("notes").BeginArray();
  for (const std::string& note : report.notes) json.String(note);
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace allranks::reports
