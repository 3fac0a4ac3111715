// The answer for programs: JSON (docs/explain.md has its keys), SARIF with one result, and a page of HTML.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "driver/explain/answer.h"
#include "driver/reports/html_page.h"
#include "driver/reports/markup.h"
#include "driver/reports/uri.h"
#include "witness/json.h"
#include "witness/ranks_text.h"

namespace allranks::explain {
namespace {

using Json = nlohmann::ordered_json;

std::string_view NameOf(Cause cause) {
  switch (cause) {
    case Cause::None: return "none";
    case Cause::Absent: return "absent";
    case Cause::Mismatch: return "mismatch";
    case Cause::Circle: return "circle";
    case Cause::AllArrived: return "all_arrived";
    case Cause::Ended: return "ended";
  }
  return "none";
}

Json JsonOf(const Call& call) { return {{"path", call.path}, {"line", call.line}, {"function", call.function}}; }
Json JsonOf(const Spot& spot) { return {{"path", spot.path}, {"line", spot.line}, {"text", spot.text}}; }

Json JsonOf(const Crowd& crowd) {
  Json calls = Json::array();
  for (const Call& call : crowd.calls) calls.push_back(JsonOf(call));
  Json json = {{"ranks", crowd.ranks}, {"state", crowd.state}};
  if (!crowd.kind.empty()) json["operation"] = crowd.kind;
  if (!crowd.shapes.empty()) json["shapes"] = crowd.shapes;
  if (!crowd.detail.empty()) json["detail"] = crowd.detail;
  if (!crowd.calls.empty()) json["at"] = JsonOf(crowd.calls.back());
  json["calls"] = std::move(calls);
  return json;
}

Json JsonOf(const Parting& parting) {
  Json json = {{"path", parting.place.path}, {"line", parting.place.line}, {"condition", parting.place.text}, {"kind", parting.kind}};
  if (!parting.varies.empty()) json["varies"] = parting.varies;
  if (parting.exit_line > 0) json["exitLine"] = parting.exit_line;
  json["takenDifferently"] = parting.is_observed;
  json["why"] = Json::array();
  for (const Spot& why : parting.why) json["why"].push_back(JsonOf(why));
  return json;
}

Json VerdictOf(const Answer& answer) {
  return {{"verdict", "confirmed"}, {"effect", "deadlock"}, {"evidence", "job"}, {"seen", answer.operation + " did not complete in a job"}};
}

Json FindingOf(const Answer& answer) {
  const Foretold& finding = answer.foretold->finding;
  Json json = {{"code", finding.code}, {"message", finding.message}, {"fingerprint", finding.fingerprint},
               {"path", finding.place.path}, {"line", finding.place.line}, {"because", answer.foretold->because}};
  if (finding.witness) json["witness"] = {{"finding", finding.witness->finding}};
  json["verify"] = VerdictOf(answer);
  return json;
}

std::string Dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

// Where to look first: where the ranks parted, else where they wait.
Call PlaceOf(const Answer& answer) {
  if (answer.foretold) return {.path = answer.foretold->finding.place.path, .function = answer.foretold->finding.function, .line = answer.foretold->finding.place.line};
  if (!answer.partings.empty()) return {.path = answer.partings[0].place.path, .function = {}, .line = answer.partings[0].place.line};
  for (const auto& crowds : {answer.waiting, answer.missing}) {
    for (const Crowd& crowd : crowds) {
      if (!crowd.calls.empty()) return crowd.calls.back();
    }
  }
  return {};
}

Json LocationOf(const std::string& path, uint32_t line, const std::string& message) {
  Json location = {{"physicalLocation", {{"artifactLocation", {{"uri", reports::UriOf(path)}}}, {"region", {{"startLine", std::max(line, 1u)}}}}}};
  if (!message.empty()) location["message"] = {{"text", message}};
  return location;
}

Json FlowOf(const Crowd& crowd, uint32_t world) {
  Json locations = Json::array();
  for (size_t i = 0; i < crowd.calls.size(); ++i) {
    const bool last = i + 1 == crowd.calls.size();
    const std::string text = last && !crowd.kind.empty() ? crowd.state + ": " + crowd.kind : "calls";
    locations.push_back({{"location", LocationOf(crowd.calls[i].path, crowd.calls[i].line, text)}, {"importance", last ? "essential" : "important"}});
  }
  return {{"id", witness::RanksText(crowd.ranks, world)}, {"message", {{"text", crowd.state}}}, {"locations", std::move(locations)}};
}

Json ResultOf(const Answer& answer) {
  const Call place = PlaceOf(answer);
  Json result = {{"ruleId", answer.foretold ? answer.foretold->finding.code : "hang"}, {"level", "error"},
                 {"message", {{"text", answer.summary}}}, {"rank", 100}};
  if (!place.path.empty()) result["locations"] = Json::array({LocationOf(place.path, place.line, "")});
  Json flows = Json::array();
  for (const auto& crowds : {answer.waiting, answer.missing}) {
    for (const Crowd& crowd : crowds) {
      if (!crowd.calls.empty() && flows.size() < 32) flows.push_back(FlowOf(crowd, answer.world));
    }
  }
  if (!flows.empty()) result["codeFlows"] = Json::array({{{"threadFlows", std::move(flows)}}});
  Json related = Json::array();
  for (size_t i = 0; i < answer.partings.size(); ++i) {
    const Parting& parting = answer.partings[i];
    related.push_back(LocationOf(parting.place.path, parting.place.line, "the ranks may have diverged here: `" + parting.place.text + "`"));
  }
  if (!related.empty()) result["relatedLocations"] = std::move(related);
  if (answer.foretold && !answer.foretold->finding.fingerprint.empty()) {
    result["partialFingerprints"] = {{"allranks/v1", answer.foretold->finding.fingerprint}};
  }
  result["properties"] = {{"allranks/verify", VerdictOf(answer)}};
  return result;
}

std::string HtmlCrowd(const Crowd& crowd, uint32_t world) {
  std::string out = "<dt>" + reports::Escaped(witness::RanksText(crowd.ranks, world)) + "</dt><dd>" + reports::Escaped(crowd.state);
  if (!crowd.kind.empty()) out += " in <code>" + reports::Escaped(crowd.kind) + "</code>";
  if (!crowd.detail.empty()) out += " " + reports::Escaped(crowd.detail);
  for (auto call = crowd.calls.rbegin(); call != crowd.calls.rend(); ++call) {
    out += "<br><span class=\"place\">" + reports::Escaped(call->path + ":" + std::to_string(call->line)) + "</span> <code>" + reports::Escaped(call->function) + "</code>";
  }
  return out + "</dd>";
}

}  // namespace

std::string RenderJson(const Answer& answer, std::string_view version) {
  Json json = {{"version", 1}, {"tool", "allranks " + std::string(version)}, {"cause", NameOf(answer.cause)}};
  json["inCode"] = answer.is_code ? Json(*answer.is_code) : Json();
  json["summary"] = answer.summary;
  if (answer.cause != Cause::None) json["operation"] = {{"kind", answer.kind}, {"group", answer.group}, {"turn", answer.turn}};
  json["waiting"] = Json::array();
  for (const Crowd& crowd : answer.waiting) json["waiting"].push_back(JsonOf(crowd));
  json["missing"] = Json::array();
  for (const Crowd& crowd : answer.missing) json["missing"].push_back(JsonOf(crowd));
  json["noRecord"] = answer.unheard;
  json["lastCommon"] = answer.last_common ? JsonOf(*answer.last_common) : Json();
  json["partings"] = Json::array();
  for (const Parting& parting : answer.partings) json["partings"].push_back(JsonOf(parting));
  json["finding"] = answer.foretold ? FindingOf(answer) : Json();
  json["beside"] = answer.beside ? Json{{"code", answer.beside->code}, {"message", answer.beside->message}, {"path", answer.beside->place.path}, {"line", answer.beside->place.line}} : Json();
  json["following"] = answer.following;
  json["evidence"] = answer.evidence;
  json["notes"] = answer.notes;
  return Dump(json);
}

std::string RenderSarif(const Answer& answer, std::string_view version) {
  Json run = {{"tool", {{"driver", {{"name", "allranks explain"}, {"version", version}}}}}};
  run["results"] = Json::array();
  if (answer.cause != Cause::None) run["results"].push_back(ResultOf(answer));
  return Dump({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array({std::move(run)})}});
}

std::string RenderHtml(const Answer& answer) {
  std::string out = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>allranks explain</title>\n<style>" +
                    std::string(reports::HtmlStyle()) + "</style></head><body><header><h1>allranks explain</h1></header><main>\n<article class=\"error\"><p>" +
                    reports::Escaped(answer.summary) + "</p><dl>";
  for (const Crowd& crowd : answer.waiting) out += HtmlCrowd(crowd, answer.world);
  for (const Crowd& crowd : answer.missing) out += HtmlCrowd(crowd, 0);
  for (const Parting& parting : answer.partings) {
    out += "<dt>may have diverged at</dt><dd><span class=\"place\">" + reports::Escaped(parting.place.path + ":" + std::to_string(parting.place.line)) + "</span> <code>" +
           reports::Escaped(parting.place.text) + "</code> " + reports::Escaped(parting.kind + (parting.varies.empty() ? "" : ", " + parting.varies)) + "</dd>";
  }
  if (answer.foretold) {
    const Foretold& finding = answer.foretold->finding;
    out += "<dt>seen in a job</dt><dd><span class=\"code\">" + reports::Escaped(finding.code) + "</span> <span class=\"place\">" +
           reports::Escaped(finding.place.path + ":" + std::to_string(finding.place.line)) + "</span> " + reports::Escaped(finding.message) + "</dd>";
  }
  for (const std::string& evidence : answer.evidence) out += "<dt>evidence</dt><dd>" + reports::Escaped(evidence) + "</dd>";
  for (const std::string& note : answer.notes) out += "<dt>note</dt><dd>" + reports::Escaped(note) + "</dd>";
  return out + "</dl></article></main></body></html>\n";
}

}  // namespace allranks::explain
