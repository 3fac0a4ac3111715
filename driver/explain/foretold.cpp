#include "driver/explain/foretold.h"

#include <nlohmann/json.hpp>

#include "witness/json.h"

namespace allranks::explain {
namespace {

using Json = nlohmann::ordered_json;

// Members of what nobody vouches for: what is missing or of another kind is empty.
const Json& Member(const Json& object, const char* key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}
std::string Text(const Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }
uint32_t Number(const Json& value) { return value.is_number_unsigned() ? value.get<uint32_t>() : 0; }

Spot SpotOf(const Json& label) {
  const Json& location = Member(label, "location");
  return {.path = Text(Member(location, "path")), .line = Number(Member(Member(location, "start"), "line")), .text = Text(Member(label, "message"))};
}

std::optional<witness::Witness> WitnessOf(const Json& value) {
  if (!value.is_object()) return std::nullopt;
  return witness::ReadJson(value.dump(-1, ' ', false, Json::error_handler_t::replace)).witness;
}

void Place(Foretold& finding, const std::string& role, Spot spot) {
  if (role == "condition") finding.condition = std::move(spot);
  else if (role == "why") finding.why.push_back(std::move(spot));
  else if (role != "primary") finding.others.push_back(std::move(spot));
}

Foretold FromJson(const Json& item) {
  Foretold finding;
  finding.code = Text(Member(item, "code"));
  finding.message = Text(Member(item, "message"));
  finding.fingerprint = Text(Member(item, "fingerprint"));
  finding.function = Text(Member(item, "function"));
  finding.help = Text(Member(item, "help"));
  finding.place = SpotOf(item);
  for (const Json& label : Member(item, "labels")) Place(finding, Text(Member(label, "role")), SpotOf(label));
  finding.witness = WitnessOf(Member(item, "witness"));
  return finding;
}

Spot SpotOfSarif(const Json& location) {
  const Json& physical = Member(location, "physicalLocation");
  return {.path = Text(Member(Member(physical, "artifactLocation"), "uri")),
          .line = Number(Member(Member(physical, "region"), "startLine")),
          .text = Text(Member(Member(location, "message"), "text"))};
}

Foretold FromSarif(const Json& result) {
  Foretold finding;
  finding.code = Text(Member(result, "ruleId"));
  finding.message = Text(Member(Member(result, "message"), "text"));
  // The first sentence is the finding; links to related places follow.
  if (const size_t end = finding.message.find(". See ["); end != std::string::npos) finding.message.resize(end);
  finding.fingerprint = Text(Member(Member(result, "partialFingerprints"), "allranks/v1"));
  const Json& locations = Member(result, "locations");
  if (locations.is_array() && !locations.empty()) {
    finding.place = SpotOfSarif(locations[0]);
    const Json& logical = Member(locations[0], "logicalLocations");
    if (logical.is_array() && !logical.empty()) finding.function = Text(Member(logical[0], "fullyQualifiedName"));
  }
  for (const Json& related : Member(result, "relatedLocations")) {
    Place(finding, Text(Member(Member(related, "properties"), "role")), SpotOfSarif(related));
  }
  finding.witness = WitnessOf(Member(Member(result, "properties"), "witness"));
  return finding;
}

bool IsOf(const Json& object, const std::string& fingerprint) {
  return Text(Member(object, "fingerprint")) == fingerprint || Text(Member(Member(object, "partialFingerprints"), "allranks/v1")) == fingerprint;
}

}  // namespace

base::Result<std::vector<Foretold>> ReadForetold(const std::string& shown, std::string_view text) {
  const Json report = Json::parse(text, nullptr, false);
  std::vector<Foretold> findings;
  if (const Json& runs = Member(report, "runs"); runs.is_array()) {
    for (const Json& run : runs) {
      for (const Json& result : Member(run, "results")) findings.push_back(FromSarif(result));
    }
    return findings;
  }
  const Json& list = Member(report, "findings");
  if (!list.is_array()) return base::Fail(shown + ": no report of `allranks check --output-format json` or `sarif`");
  for (const Json& item : list) findings.push_back(FromJson(item));
  return findings;
}

std::string WithVerdict(std::string_view text, const std::string& fingerprint, const std::string& evidence) {
  Json report = Json::parse(text, nullptr, false);
  const auto mark = [&](Json& item) {
    if (!IsOf(item, fingerprint)) return;
    const Json verdict = {{"verdict", "confirmed"}, {"effect", "deadlock"}, {"evidence", "job"}, {"seen", evidence}};
    if (item.contains("ruleId")) {
      item["properties"]["allranks/verify"] = verdict;
      item["rank"] = 100;
    } else {
      item["verify"] = verdict;
    }
  };
  if (report.is_object() && report.contains("runs") && report["runs"].is_array()) {
    for (Json& run : report["runs"]) {
      if (!run.is_object() || !run.contains("results")) continue;
      for (Json& result : run["results"]) mark(result);
    }
  } else if (report.is_object() && report.contains("findings")) {
    for (Json& item : report["findings"]) mark(item);
  } else {
    return std::string(text);
  }
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace allranks::explain
