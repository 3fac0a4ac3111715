// SARIF 2.1.0, as GitHub code scanning and editors read it: results with related places and, of a witness, one
// thread flow a rank class.
#include <algorithm>
#include <map>

#include "driver/reports/coverage.h"
#include "driver/reports/json_writer.h"
#include "driver/reports/place.h"
#include "driver/reports/timeline.h"
#include "driver/reports/uri.h"
#include "rules/rule.h"
#include "witness/json.h"
#include "witness/ranks_text.h"

namespace allranks::reports {
namespace {

using findings::Finding;
using findings::Label;
using witness::RanksText;

constexpr std::string_view kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
// GitHub refuses longer rule descriptions.
constexpr size_t kLongestDescription = 1024;

std::string_view LevelOf(findings::Severity severity) {
  switch (severity) {
    case findings::Severity::Info: return "note";
    case findings::Severity::Warning: return "warning";
    case findings::Severity::Error: return "error";
  }
  return "error";
}

// SARIF texts are sentences: they begin with a capital and end with a full stop.
std::string Sentence(std::string text) {
  if (text.empty()) return text;
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  if (!text.ends_with('.') && !text.ends_with('?')) text += '.';
  return text;
}

// The text under the first heading of a rule's explanation.
std::string Description(const rules::Rule& rule) {
  std::string_view text = rule.explanation;
  const size_t heading = text.find("## ");
  if (heading != std::string_view::npos) text.remove_prefix(std::min(text.find('\n', heading), text.size()));
  text = text.substr(0, text.find("\n## "));
  std::string out;
  for (const char c : text) {
    const bool space = c == '\n' || c == ' ';
    if (!space) out += c;
    if (space && !out.empty() && out.back() != ' ') out += ' ';
  }
  while (out.ends_with(' ')) out.pop_back();
  if (out.empty()) out = rule.summary;
  if (out.size() > kLongestDescription) out = std::string(rule.summary);
  return Sentence(out);
}

class SarifWriter {
 public:
  explicit SarifWriter(const Report& report) : report_(report) {
    for (size_t i = 0; i < rules::AllRules().size(); ++i) rule_index_.emplace(rules::AllRules()[i]->code, i);
  }

  std::string Write() {
    json_.BeginObject().Member("$schema", kSchema).Member("version", "2.1.0");
    json_.Key("runs").BeginArray().BeginObject();
    WriteTool();
    WriteInvocation();
    json_.Member("columnKind", "utf16CodeUnits");
    json_.Key("results").BeginArray();
    for (const Finding& finding : report_.findings) WriteResult(finding);
    json_.EndArray();
    WriteRunProperties();
    json_.EndObject().EndArray().EndObject();
    return json_.Take();
  }

 private:
  void WriteTool() {
    json_.Key("tool").BeginObject().Key("driver").BeginObject();
    json_.Member("name", "allranks").Member("version", report_.version).Member("semanticVersion", report_.version);
    json_.Key("rules").BeginArray();
    for (const rules::Rule* rule : rules::AllRules()) WriteRule(*rule);
    json_.EndArray().EndObject().EndObject();
  }
  void WriteRule(const rules::Rule& rule) {
    json_.BeginObject().Member("id", rule.code).Member("name", rule.name);
    WriteText("shortDescription", Sentence(std::string(rule.summary)));
    WriteText("fullDescription", Description(rule));
    const std::string page = rules::RulePage(rule);
    json_.Key("help").BeginObject().Member("text", page).Member("markdown", page).EndObject();
    json_.Key("defaultConfiguration").BeginObject();
    json_.Key("enabled").Bool(rule.on_by_default).Member("level", LevelOf(rule.severity)).EndObject();
    json_.Key("properties").BeginObject().Key("tags").BeginArray();
    json_.String("distributed-training").EndArray();
    json_.Member("precision", "high").Member("problem.severity", rule.severity == findings::Severity::Info
                                                                     ? "recommendation"
                                                                     : findings::ToString(rule.severity));
    json_.EndObject().EndObject();
  }
  void WriteText(std::string_view key, std::string_view text) {
    json_.Key(key).BeginObject().Member("text", text).EndObject();
  }

  void WriteInvocation() {
    json_.Key("invocations").BeginArray().BeginObject();
    json_.Key("executionSuccessful").Bool(report_.errors.empty());
    if (!report_.errors.empty()) {
      json_.Key("toolExecutionNotifications").BeginArray();
      for (const std::string& error : report_.errors) {
        json_.BeginObject().Member("level", "error");
        WriteText("message", error);
        json_.EndObject();
      }
      json_.EndArray();
    }
    json_.EndObject().EndArray();
  }

  void WriteResult(const Finding& finding) {
    json_.BeginObject().Member("ruleId", finding.code);
    if (const auto index = rule_index_.find(finding.code); index != rule_index_.end()) {
      json_.Member("ruleIndex", index->second);
    }
    json_.Member("level", LevelOf(finding.severity));
    WriteText("message", Message(finding));
    json_.Key("locations").BeginArray();
    WriteSpan(finding.span, "", finding.function, 0);
    json_.EndArray();
    WriteRelated(finding);
    WriteFixes(finding);
    if (finding.witness && HasPlaces(*finding.witness)) WriteCodeFlow(*finding.witness);
    WriteResultProperties(finding);
    json_.EndObject();
  }
  static std::string Message(const Finding& finding) {
    const std::string help = findings::Render(finding.help);
    const std::string message = Sentence(findings::Render(finding.message));
    return help.empty() ? message : message + " " + Sentence(help);
  }
  void WriteRelated(const Finding& finding) {
    if (finding.labels.empty()) return;
    json_.Key("relatedLocations").BeginArray();
    uint64_t id = 1;
    for (const Label& label : finding.labels) WriteSpan(label.span, findings::Render(label.text), "", id++);
    json_.EndArray();
  }
  void WriteSpan(const source::Span& span, const std::string& message, const std::string& function, uint64_t id) {
    const source::SourceFile& file = report_.files[span.file];
    const source::LineColumn begin = source::Locate(file, span.begin, source::ColumnUnit::Utf16);
    const source::LineColumn end = source::Locate(file, span.end, source::ColumnUnit::Utf16);
    json_.BeginObject();
    if (id > 0) json_.Member("id", id);
    json_.Key("physicalLocation").BeginObject();
    json_.Key("artifactLocation").BeginObject().Member("uri", UriOf(file.path)).EndObject();
    json_.Key("region").BeginObject();
    json_.Member("startLine", uint64_t{begin.line} + 1).Member("startColumn", uint64_t{begin.column} + 1);
    json_.Member("endLine", uint64_t{end.line} + 1).Member("endColumn", uint64_t{end.column} + 1);
    json_.EndObject().EndObject();
    if (!message.empty()) WriteText("message", message);
    if (!function.empty()) {
      json_.Key("logicalLocations").BeginArray().BeginObject();
      json_.Member("fullyQualifiedName", function).Member("kind", "function").EndObject().EndArray();
    }
    json_.EndObject();
  }

  void WriteFixes(const Finding& finding) {
    if (finding.fixes.empty()) return;
    json_.Key("fixes").BeginArray();
    for (const findings::Fix& fix : finding.fixes) {
      json_.BeginObject();
      WriteText("description", Sentence(fix.title));
      json_.Key("artifactChanges").BeginArray().BeginObject();
      json_.Key("artifactLocation").BeginObject().Member("uri", UriOf(report_.files[finding.span.file].path)).EndObject();
      json_.Key("replacements").BeginArray();
      for (const findings::Edit& edit : fix.edits) WriteReplacement(edit);
      json_.EndArray().EndObject().EndArray().EndObject();
    }
    json_.EndArray();
  }
  void WriteReplacement(const findings::Edit& edit) {
    const source::SourceFile& file = report_.files[edit.span.file];
    const source::LineColumn begin = source::Locate(file, edit.span.begin, source::ColumnUnit::Utf16);
    const source::LineColumn end = source::Locate(file, edit.span.end, source::ColumnUnit::Utf16);
    json_.BeginObject().Key("deletedRegion").BeginObject();
    json_.Member("startLine", uint64_t{begin.line} + 1).Member("startColumn", uint64_t{begin.column} + 1);
    json_.Member("endLine", uint64_t{end.line} + 1).Member("endColumn", uint64_t{end.column} + 1).EndObject();
    json_.Key("insertedContent").BeginObject().Member("text", edit.replacement).EndObject().EndObject();
  }

  void WriteCodeFlow(const witness::Witness& w) {
    json_.Key("codeFlows").BeginArray().BeginObject();
    WriteText("message", "What each class of ranks does, with " + std::to_string(w.world) + " ranks.");
    json_.Key("threadFlows").BeginArray();
    for (size_t c = 0; c < w.classes.size() && c < w.ops.size(); ++c) WriteThreadFlow(w, c);
    json_.EndArray().EndObject().EndArray();
  }
  // A thread flow needs a place; ranks that do nothing of the kind have none and are left out.
  static bool HasPlaces(const std::vector<witness::Op>& ops) {
    return std::any_of(ops.begin(), ops.end(), [](const witness::Op& op) { return op.at.line > 0; });
  }
  static bool HasPlaces(const witness::Witness& w) {
    return std::any_of(w.ops.begin(), w.ops.end(), [](const auto& ops) { return HasPlaces(ops); });
  }
  void WriteThreadFlow(const witness::Witness& w, size_t c) {
    if (!HasPlaces(w.ops[c])) return;
    const std::string ranks = RanksText(w.classes[c].ranks, w.world);
    json_.BeginObject().Member("id", ranks);
    WriteText("message", w.classes[c].guard.empty() ? ranks : ranks + ": " + w.classes[c].guard);
    json_.Key("locations").BeginArray();
    for (const witness::Op& op : w.ops[c]) {
      if (op.at.line > 0) WriteStep(w, c, op, ranks);
    }
    json_.EndArray().EndObject();
  }
  void WriteStep(const witness::Witness& w, size_t c, const witness::Op& op, const std::string& ranks) {
    const bool waits = std::any_of(w.stuck.begin(), w.stuck.end(), [&](const witness::Stuck& stuck) {
      const std::vector<uint32_t>& own = w.classes[c].ranks;
      return stuck.op == op.id && std::find(own.begin(), own.end(), stuck.rank) != own.end();
    });
    const std::string name = op.source.empty() ? op.op : op.source;
    json_.BeginObject().Key("location").BeginObject().Key("physicalLocation").BeginObject();
    json_.Key("artifactLocation").BeginObject().Member("uri", UriOf(op.at.uri)).EndObject();
    json_.Key("region").BeginObject().Member("startLine", op.at.line).EndObject().EndObject();
    WriteText("message", ranks + ": `" + name + "`" + (waits ? ", waits here" : ""));
    json_.EndObject();
    json_.Member("importance", waits ? "essential" : "important").EndObject();
  }

  void WriteResultProperties(const Finding& finding) {
    json_.Key("properties").BeginObject().Member("confidence", findings::ToString(finding.confidence));
    if (!finding.flight_recorder.empty()) json_.Member("flightRecorder", finding.flight_recorder);
    if (finding.witness) json_.Key("witness").Raw(witness::WriteJson(*finding.witness));
    json_.EndObject();
  }
  void WriteRunProperties() {
    const CoverageTotals totals = Totals(report_);
    json_.Key("properties").BeginObject().Key("ledger").BeginObject();
    json_.Member("aligned", totals.aligned).Member("flagged", totals.flagged).Member("unknown", totals.unknown);
    json_.EndObject().Member("filesChecked", report_.files_checked).EndObject();
  }

  const Report& report_;
  std::map<std::string_view, size_t> rule_index_;
  JsonWriter json_;
};

}  // namespace

std::string RenderSarif(const Report& report) { return SarifWriter(report).Write(); }

}  // namespace allranks::reports
