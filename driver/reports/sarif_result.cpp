// SARIF: one result.
#include <algorithm>

#include "analyzer/knowledge/words.h"
#include "driver/reports/line_hash.h"
#include "driver/reports/file_place.h"
#include "driver/reports/sarif_parts.h"
#include "driver/reports/uri.h"
#include "rules/rule.h"
#include "witness/json.h"
#include "witness/ranks_text.h"

namespace allranks::reports::sarif {
namespace {

using findings::Finding;
using findings::Label;
using findings::LabelRole;
using witness::RanksText;

// What a link to a related place is called.
std::string_view LinkText(LabelRole role) {
  switch (role) {
    case LabelRole::Primary: return "the place";
    case LabelRole::Condition: return "the condition";
    case LabelRole::Why: return "why it varies";
    case LabelRole::Victim: return "where the others wait";
    case LabelRole::Call: return "the call";
    case LabelRole::Note: return "note";
  }
  return "note";
}

// Code such as `a[0](1)` must not be read as a link.
std::string WithoutLinks(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ']' && i + 1 < text.size() && text[i + 1] == '(') out += '\\';
    out += text[i];
  }
  return out;
}

bool HasPlaces(const std::vector<witness::Op>& ops) {
  return std::ranges::any_of(ops, [](const witness::Op& op) { return op.at.line > 0; });
}

// A thread flow needs a place; ranks that do nothing of the kind have none and are left out.
bool HasPlaces(const witness::Witness& w) {
  return std::ranges::any_of(w.ops, [](const auto& ops) { return HasPlaces(ops); });
}

bool Waits(const witness::Witness& w, size_t c, const witness::Op& op) {
  return std::ranges::any_of(w.stuck, [&](const witness::Stuck& stuck) {
    return stuck.op == op.id && std::ranges::find(w.classes[c].ranks, stuck.rank) != w.classes[c].ranks.end();
  });
}

}  // namespace

std::string_view LevelOf(findings::Severity severity) {
  switch (severity) {
    case findings::Severity::Info: return "note";
    case findings::Severity::Warning: return "warning";
    case findings::Severity::Error: return "error";
  }
  return "error";
}

std::string Sentence(std::string text) {
  if (text.empty()) return text;
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  if (!text.ends_with('.') && !text.ends_with('?')) text += '.';
  return text;
}

void WriteText(JsonWriter& json, std::string_view key, std::string_view text) {
  json.Key(key).BeginObject().Member("text", text).EndObject();
}

bool HasProvenance(const RunInfo& run) { return !run.repository.empty() && !run.commit.empty(); }

ResultWriter::ResultWriter(const Report& report, JsonWriter& json) : report_(report), json_(json) {
  for (size_t i = 0; i < rules::AllRules().size(); ++i) rule_index_.emplace(rules::AllRules()[i]->code, i);
  for (uint32_t i = 0; i < report.files.size(); ++i) {
    file_by_path_.emplace(report.files[source::FileId{i}].path, source::FileId{i});
  }
}

void ResultWriter::Write(const Finding& finding, BaselineState state, const findings::Suppressed* by) {
  json_.BeginObject().Member("ruleId", finding.code);
  if (const auto index = rule_index_.find(finding.code); index != rule_index_.end()) json_.Member("ruleIndex", index->second);
  json_.Member("level", LevelOf(finding.severity));
  WriteText(json_, "message", MessageOf(finding));
  WritePrimary(finding);
  WriteFingerprints(finding);
  WriteRelated(finding);
  if (finding.witness && HasPlaces(*finding.witness)) WriteCodeFlow(finding);
  WriteFixes(finding);
  if (by != nullptr) WriteSuppression(*by);
  if (state != BaselineState::None) json_.Member("baselineState", state == BaselineState::New ? "new" : "unchanged");
  const Verification* seen = VerificationOf(report_, finding);
  // 100 is for what happened in a job; what was replayed comes below it (`allranks verify`).
  if (seen != nullptr && seen->in_job) json_.Member("rank", uint64_t{100});
  WriteProperties(finding);
  json_.EndObject();
}

// The first sentence is the finding, which is shown alone where there is little room.
std::string ResultWriter::MessageOf(const Finding& finding) const {
  std::string message = WithoutLinks(Sentence(findings::Render(finding.message)));
  std::string links;
  std::vector<LabelRole> roles;
  uint64_t id = 0;
  for (const Label& label : finding.labels) {
    ++id;
    if (id > kMostLocations || label.span == finding.span) continue;
    // One link per role says enough; the related places have them all.
    if (std::ranges::find(roles, label.role) != roles.end()) continue;
    roles.push_back(label.role);
    links += (links.empty() ? " See [" : ", [") + std::string(LinkText(label.role)) + "](" + std::to_string(id) + ")";
  }
  if (!links.empty()) message += links + ".";
  const std::string help = findings::Render(finding.help);
  return help.empty() ? message : message + " " + WithoutLinks(Sentence(help));
}

ResultWriter::Region ResultWriter::RegionOf(const source::Span& span) const {
  const source::SourceFile& file = report_.files[span.file];
  const source::LineColumn begin = source::Locate(file, span.begin, source::ColumnUnit::Utf16);
  const source::LineColumn end = source::Locate(file, span.end, source::ColumnUnit::Utf16);
  // Columns of a notebook's JSON would say nothing.
  if (file.is_notebook()) return {LineInFile(report_, span.file, begin.line), 0, LineInFile(report_, span.file, end.line), 0};
  return {uint64_t{begin.line} + 1, uint64_t{begin.column} + 1, uint64_t{end.line} + 1, uint64_t{end.column} + 1};
}

std::string ResultWriter::UriOfPath(std::string_view shown) const {
  return UriOf(RepositoryPath(report_, shown));
}
std::string ResultWriter::UriOfFile(source::FileId file) const { return UriOfPath(report_.files[file].path); }

void ResultWriter::WriteArtifact(std::string_view uri) {
  json_.Key("artifactLocation").BeginObject().Member("uri", uri);
  if (HasProvenance(report_.run) && !uri.starts_with("file://")) json_.Member("uriBaseId", kRoot);
  json_.EndObject();
}

void ResultWriter::WriteRegion(std::string_view key, const Region& region) {
  json_.Key(key).BeginObject();
  json_.Member("startLine", region.line);
  if (region.column > 0) json_.Member("startColumn", region.column);
  json_.Member("endLine", std::max(region.end_line, region.line));
  if (region.end_column > 0) json_.Member("endColumn", region.end_column);
  json_.EndObject();
}

// The line as it stands, for viewers that have no sources.
void ResultWriter::WriteContext(source::FileId file_id, const Region& region) {
  if (!file_id || region.end_line != region.line || report_.files[file_id].is_notebook()) return;
  const source::SourceFile& file = report_.files[file_id];
  const auto line = static_cast<uint32_t>(region.line - 1);
  const std::string_view text = source::LineText(file, line);
  const uint32_t begin = file.line_starts[line];
  const Region whole = RegionOf({file_id, begin, begin + static_cast<uint32_t>(text.size())});
  // The format wants more than the place itself.
  if (whole.end_column - whole.column <= region.end_column - region.column) return;
  json_.Key("contextRegion").BeginObject();
  json_.Member("startLine", whole.line).Member("startColumn", whole.column);
  json_.Member("endLine", whole.end_line).Member("endColumn", whole.end_column);
  json_.Key("snippet").BeginObject().Member("text", text).EndObject().EndObject();
}

void ResultWriter::WriteLocation(const source::Span& span, std::string_view uri, const Region& region,
                                 const std::string& message, const std::string& function, uint64_t id, std::string_view role) {
  json_.BeginObject();
  if (id > 0) json_.Member("id", id);
  json_.Key("physicalLocation").BeginObject();
  WriteArtifact(uri);
  WriteRegion("region", region);
  WriteContext(span.file, region);
  json_.EndObject();
  if (!message.empty()) WriteText(json_, "message", WithoutLinks(message));
  if (!function.empty()) {
    json_.Key("logicalLocations").BeginArray().BeginObject();
    json_.Member("fullyQualifiedName", function).Member("kind", "function").EndObject().EndArray();
  }
  if (!role.empty()) json_.Key("properties").BeginObject().Member("role", role).EndObject();
  json_.EndObject();
}

// A pull request shows an alert only if it changes all lines of its place: of a call of several lines the first.
void ResultWriter::WritePrimary(const Finding& finding) {
  const source::SourceFile& file = report_.files[finding.span.file];
  source::Span first_line = finding.span;
  const size_t line_end = file.text.find_first_of("\r\n", finding.span.begin);
  if (line_end < first_line.end) first_line.end = static_cast<uint32_t>(line_end);
  json_.Key("locations").BeginArray();
  WriteLocation(finding.span, UriOfFile(finding.span.file), RegionOf(first_line), "", finding.function, 0);
  json_.EndArray();
}

void ResultWriter::WriteRelated(const Finding& finding) {
  if (finding.labels.empty()) return;
  json_.Key("relatedLocations").BeginArray();
  uint64_t id = 1;
  for (const Label& label : finding.labels) {
    if (id > kMostLocations) {
      Cut("related places");
      break;
    }
    WriteLocation(label.span, UriOfFile(label.span.file), RegionOf(label.span), findings::Render(label.text), "", id++,
                  RoleName(label.role));
  }
  json_.EndArray();
}

void ResultWriter::WriteFingerprints(const Finding& finding) {
  const source::SourceFile& file = report_.files[finding.span.file];
  json_.Key("partialFingerprints").BeginObject();
  // Of a notebook GitHub reads the JSON, in which our lines do not stand.
  if (!file.is_notebook()) {
    const auto [hashes, is_new] = line_hashes_.try_emplace(finding.span.file);
    if (is_new) hashes->second = LineHashes(file.text);
    const uint32_t line = source::Locate(file, finding.span.begin).line;
    if (line < hashes->second.size()) json_.Member("primaryLocationLineHash", hashes->second[line]);
  }
  if (!finding.fingerprint.empty()) json_.Member("allranks/v1", finding.fingerprint);
  json_.EndObject();
}

void ResultWriter::WriteSuppression(const findings::Suppressed& by) {
  json_.Key("suppressions").BeginArray().BeginObject();
  json_.Member("kind", "inSource").Member("status", "accepted");
  if (!by.reason.empty()) json_.Member("justification", by.reason);
  json_.Key("location");
  WriteLocation(by.comment, UriOfFile(by.comment.file), RegionOf(by.comment), "", "", 0);
  json_.EndObject().EndArray();
}

void ResultWriter::WriteFixes(const Finding& finding) {
  // In a notebook a fix is a change of JSON strings, which edits of lines cannot say.
  if (finding.fixes.empty() || report_.files[finding.span.file].is_notebook()) return;
  json_.Key("fixes").BeginArray();
  for (const findings::Fix& fix : finding.fixes) {
    json_.BeginObject();
    WriteText(json_, "description", Sentence(fix.title));
    std::map<source::FileId, std::vector<const findings::Edit*>> by_file;
    for (const findings::Edit& edit : fix.edits) by_file[edit.span.file].push_back(&edit);
    json_.Key("artifactChanges").BeginArray();
    for (const auto& [file, edits] : by_file) {
      json_.BeginObject();
      WriteArtifact(UriOfFile(file));
      json_.Key("replacements").BeginArray();
      for (const findings::Edit* edit : edits) WriteReplacement(*edit);
      json_.EndArray().EndObject();
    }
    json_.EndArray().EndObject();
  }
  json_.EndArray();
}

void ResultWriter::WriteReplacement(const findings::Edit& edit) {
  json_.BeginObject();
  WriteRegion("deletedRegion", RegionOf(edit.span));
  json_.Key("insertedContent").BeginObject().Member("text", edit.replacement).EndObject().EndObject();
}

void ResultWriter::WriteCodeFlow(const Finding& finding) {
  const witness::Witness& w = *finding.witness;
  json_.Key("codeFlows").BeginArray().BeginObject();
  WriteText(json_, "message", "What each class of ranks does, with " + std::to_string(w.world) + " ranks.");
  json_.Key("threadFlows").BeginArray();
  for (size_t c = 0; c < w.classes.size() && c < w.ops.size(); ++c) WriteThreadFlow(w, c);
  json_.EndArray().EndObject().EndArray();
}

void ResultWriter::WriteThreadFlow(const witness::Witness& w, size_t c) {
  if (!HasPlaces(w.ops[c])) return;
  const std::string ranks = RanksText(w.classes[c].ranks, w.world);
  json_.BeginObject().Member("id", ranks);
  WriteText(json_, "message", w.classes[c].guard.empty() ? ranks : ranks + ": " + WithoutLinks(w.classes[c].guard));
  json_.Key("locations").BeginArray();
  size_t steps = 0;
  for (const witness::Op& op : w.ops[c]) {
    if (op.at.line == 0) continue;
    if (++steps > kMostSteps / std::max<size_t>(w.classes.size(), 1)) {
      Cut("steps");
      break;
    }
    WriteStep(w, c, op, ranks);
    // What comes after it is never reached.
    if (Waits(w, c, op)) break;
  }
  json_.EndArray().EndObject();
}

void ResultWriter::WriteStep(const witness::Witness& w, size_t c, const witness::Op& op, const std::string& ranks) {
  const bool waits = Waits(w, c, op);
  const std::string name = op.source.empty() ? op.op : op.source;
  Region region{op.at.line, 1, op.at.line, 1};
  source::Span line;
  // A witness knows lines only: the code of that line is the place.
  if (const auto file = file_by_path_.find(op.at.uri); file != file_by_path_.end()) {
    const source::SourceFile& source = report_.files[file->second];
    if (op.at.line <= source.line_starts.size()) {
      const std::string_view text = source::LineText(source, op.at.line - 1);
      const size_t first = std::min(text.find_first_not_of(" \t"), text.size());
      const uint32_t start = source.line_starts[op.at.line - 1];
      line = {file->second, start + static_cast<uint32_t>(first), start + static_cast<uint32_t>(text.size())};
      region = RegionOf(line);
    }
  }
  json_.BeginObject().Key("location");
  WriteLocation(line, UriOfPath(op.at.uri), region, ranks + ": " + knowledge::AsCode(name) + (waits ? ", waits here" : ""), "", 0);
  json_.Member("importance", waits ? "essential" : "important");
  // By it `allranks verify` finds the step again.
  if (!op.id.empty()) json_.Key("properties").BeginObject().Member("allranks/op", op.id).EndObject();
  json_.EndObject();
}

void ResultWriter::WriteProperties(const Finding& finding) {
  json_.Key("properties").BeginObject().Member("confidence", findings::ToString(finding.confidence));
  if (!finding.assumptions.empty()) WriteAssumptions(json_, finding.assumptions);
  const Place place = PlaceAt(report_.files, finding.span.file, finding.span.begin);
  if (place.cell > 0) json_.Member("notebookCell", place.cell).Member("lineInCell", place.line);
  if (finding.flight_record != findings::FlightRecord::None) json_.Member("flightRecorder", ToString(finding.flight_record));
  if (finding.witness) json_.Key("witness").Raw(witness::WriteJson(*finding.witness));
  if (const Verification* seen = VerificationOf(report_, finding); seen != nullptr && seen->in_job) {
    json_.Key("allranks/verify").BeginObject().Member("verdict", "confirmed").Member("effect", "deadlock").Member("evidence", "job");
    json_.Member("seen", seen->words).EndObject();
  }
  json_.EndObject();
}

void ResultWriter::Cut(const std::string& what) {
  const std::string sentence = "Some results have more " + what + " than code scanning takes; the rest was left out.";
  if (std::ranges::find(cuts_, sentence) == cuts_.end()) cuts_.push_back(sentence);
}

}  // namespace allranks::reports::sarif
