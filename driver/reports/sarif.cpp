// SARIF 2.1.0, as GitHub code scanning and editors read it: results with related places and, of a witness, one
// thread flow a rank class.
#include <algorithm>

#include "driver/reports/coverage.h"
#include "driver/reports/sarif_parts.h"

namespace allranks::reports {
namespace {

using findings::Finding;
using sarif::BaselineState;

constexpr std::string_view kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

struct Result {
  const Finding* finding = nullptr;
  BaselineState state = BaselineState::None;
  const findings::Suppressed* by = nullptr;
};

// What is new first, what is accepted last: where there are too many, the end is cut. What was accepted is left out unless
// asked for: code scanning reads neither `suppressions` nor `baselineState` and opens an alert for each result.
std::vector<Result> ResultsOf(const Report& report) {
  const BaselineState fresh = report.has_baseline ? BaselineState::New : BaselineState::None;
  std::vector<Result> results;
  for (const Finding& finding : report.findings) results.push_back({&finding, fresh, nullptr});
  if (report.sarif_known) {
    for (const Finding& finding : report.known) results.push_back({&finding, BaselineState::Unchanged, nullptr});
  }
  if (report.sarif_suppressed) {
    for (const findings::Suppressed& one : report.suppressed) results.push_back({&one.finding, fresh, &one});
  }
  return results;
}

std::vector<Result> Within(std::vector<Result> results, size_t most) {
  if (results.size() <= most) return results;
  std::ranges::stable_sort(results, std::ranges::greater(), [](const Result& r) { return r.finding->severity; });
  results.resize(most);
  return results;
}

void WriteNotification(JsonWriter& json, std::string_view level, const std::string& text, std::string_view rule = {}) {
  json.BeginObject().Member("level", level);
  if (!rule.empty()) json.Key("associatedRule").BeginObject().Member("id", rule).EndObject();
  sarif::WriteText(json, "message", text);
  json.EndObject();
}

void WriteInvocation(JsonWriter& json, const Report& report, const std::vector<std::string>& cuts) {
  json.Key("invocations").BeginArray().BeginObject();
  json.Key("executionSuccessful").Bool(report.errors.empty());
  const RunInfo& run = report.run;
  if (!run.start_time.empty()) {
    json.Key("arguments").BeginArray();
    for (const std::string& argument : run.arguments) json.String(argument);
    json.EndArray().Member("startTimeUtc", run.start_time).Member("endTimeUtc", run.end_time);
    json.Member("exitCode", static_cast<uint64_t>(run.exit_code));
  }
  if (!report.errors.empty() || !report.limits.empty() || !cuts.empty()) {
    json.Key("toolExecutionNotifications").BeginArray();
    for (const std::string& error : report.errors) WriteNotification(json, "error", error);
    for (const std::string& limit : report.limits) WriteNotification(json, "warning", limit, "AR003");
    for (const std::string& cut : cuts) WriteNotification(json, "warning", cut);
    json.EndArray();
  }
  json.EndObject().EndArray();
}

// The commit that was checked. What is not committed yet is not of it, but there is no better name.
void WriteProvenance(JsonWriter& json, const RunInfo& run) {
  if (!sarif::HasProvenance(run)) return;
  json.Key("versionControlProvenance").BeginArray().BeginObject();
  json.Member("repositoryUri", run.repository).Member("revisionId", run.commit);
  if (!run.branch.empty()) json.Member("branch", run.branch);
  json.Key("mappedTo").BeginObject().Member("uriBaseId", sarif::kRoot).EndObject();
  json.EndObject().EndArray();
  json.Key("originalUriBaseIds").BeginObject().Key(sarif::kRoot).BeginObject();
  sarif::WriteText(json, "description", "The root of the repository.");
  json.EndObject().EndObject();
}

void WriteRunProperties(JsonWriter& json, const Report& report) {
  json.Key("properties").BeginObject();
  WriteLedger(json, report, true);
  json.Member("filesChecked", report.files_checked);
  json.Member("suppressed", report.suppressed.size()).Member("known", report.known.size()).EndObject();
}

}  // namespace

std::string RenderSarif(const Report& report) {
  JsonWriter json;
  json.BeginObject().Member("$schema", kSchema).Member("version", "2.1.0");
  json.Key("runs").BeginArray().BeginObject();
  sarif::WriteTool(json, report.version);
  json.Key("automationDetails").BeginObject().Member("id", report.category).EndObject();
  json.Member("columnKind", "utf16CodeUnits");
  json.Key("results").BeginArray();
  sarif::ResultWriter writer(report, json);
  const std::vector<Result> all = ResultsOf(report);
  for (const Result& result : Within(all, sarif::kMostResults)) writer.Write(*result.finding, result.state, result.by);
  json.EndArray();
  std::vector<std::string> cuts = writer.cuts();
  if (all.size() > sarif::kMostResults) {
    cuts.push_back("Only the " + std::to_string(sarif::kMostResults) + " most severe of " + std::to_string(all.size()) +
                   " results are here: code scanning takes no more. Check parts of the project by themselves.");
  }
  WriteInvocation(json, report, cuts);
  WriteProvenance(json, report.run);
  WriteRunProperties(json, report);
  json.EndObject().EndArray().EndObject();
  return json.Take();
}

}  // namespace allranks::reports
