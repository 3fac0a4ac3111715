// Findings as the protocol's diagnostics.
#include "driver/server/diagnostics.h"

#include "driver/reports/links.h"
#include "rules/rule.h"

namespace allranks::server {
namespace {

int SeverityNumber(findings::Severity severity) {
  switch (severity) {
    case findings::Severity::Error: return 1;
    case findings::Severity::Warning: return 2;
    case findings::Severity::Info: return 3;
  }
  return 3;
}

// As the protocol numbers them; editors fade what bears it.
constexpr int kUnnecessaryTag = 1;

// Of the comments that AR002 speaks of, those that could as well not be there.
bool IsUnnecessary(const findings::Finding& finding) {
  return finding.code == "AR002" && finding.message.format.starts_with("unused");
}

}  // namespace

Json WriteDiagnostic(const Snapshot& snapshot, const findings::Finding& finding, const Client& client) {
  const Places places(snapshot, client.encoding);
  Json diagnostic = {{"range", WriteRange(places.RangeOf(finding.span))},
                     {"severity", SeverityNumber(finding.severity)},
                     {"code", finding.code},
                     {"source", "allranks"},
                     {"message", findings::Render(finding.message)}};
  const rules::Rule* rule = client.has_code_description ? rules::FindRule(finding.code) : nullptr;
  if (rule != nullptr) diagnostic["codeDescription"] = {{"href", reports::RuleUrl(*rule)}};
  if (client.knows_tags && IsUnnecessary(finding)) diagnostic["tags"] = Json::array({kUnnecessaryTag});
  if (!client.has_related_information) return diagnostic;
  Json related = Json::array();
  for (const findings::Label& label : finding.labels) {
    related.push_back({{"location", places.Location(label.span)}, {"message", findings::Render(label.text)}});
  }
  if (!related.empty()) diagnostic["relatedInformation"] = std::move(related);
  return diagnostic;
}

std::map<std::string, Json> DiagnosticsOf(const Snapshot& snapshot, const Client& client) {
  std::map<std::string, Json> by_uri;
  for (const auto& [path, uri] : snapshot.open.uris) by_uri.emplace(uri, Json::array());
  for (const auto& [path, cells] : snapshot.open.cells) {
    for (const std::string& cell : cells) by_uri.emplace(cell, Json::array());
  }
  const Places places(snapshot, client.encoding);
  for (const findings::Finding& finding : snapshot.output.findings) {
    by_uri.try_emplace(places.Of(finding.span).uri, Json::array())
        .first->second.push_back(WriteDiagnostic(snapshot, finding, client));
  }
  return by_uri;
}

}  // namespace allranks::server
