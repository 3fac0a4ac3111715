// SARIF: the tool and its rules.
#include "driver/reports/links.h"
#include "driver/reports/sarif_parts.h"
#include "rules/rule.h"

namespace allranks::reports::sarif {
namespace {

// The first sentence of what a rule's page says under its first heading, or its summary if a
// list stands there: the page itself is in `help`.
std::string Description(const rules::Rule& rule) {
  std::string_view text = rule.explanation;
  const size_t heading = text.find("## ");
  if (heading != std::string_view::npos) text.remove_prefix(std::min(text.find('\n', heading), text.size()));
  text = text.substr(0, text.find("\n## "));
  text.remove_prefix(std::min(text.find_first_not_of("\n "), text.size()));
  text = text.substr(0, text.find("\n\n"));
  std::string out;
  for (const char c : text) {
    const bool is_space = c == '\n' || c == ' ';
    if (is_space && out.ends_with('.')) break;
    out += is_space ? ' ' : c;
  }
  const bool is_list = out.starts_with("* ") || out.ends_with(':');
  return Sentence(out.empty() || is_list ? std::string(rule.summary) : out);
}

// By the first digit of the code.
std::string_view FamilyOf(const rules::Rule& rule) {
  constexpr std::string_view kFamilies[] = {"tool", "collectives", "device", "data",   "optimisation",
                                            "ddp",  "fsdp",        "frameworks", "memory", "launch"};
  const char digit = rule.code.size() > 2 ? rule.code[2] : '0';
  return digit >= '0' && digit <= '9' ? kFamilies[digit - '0'] : kFamilies[0];
}

// What the tool says of its own reading is always so; a rule in preview has been read on less code.
std::string_view PrecisionOf(const rules::Rule& rule) {
  if (rule.check == nullptr && rule.check_launch == nullptr) return "very-high";
  return rule.preview.empty() && rule.preview_in_part.empty() ? "high" : "medium";
}

std::string_view ProblemSeverityOf(findings::Severity severity) {
  return severity == findings::Severity::Info ? "recommendation" : findings::ToString(severity);
}

void WriteRule(JsonWriter& json, const rules::Rule& rule) {
  json.BeginObject().Member("id", rule.code).Member("name", rule.name);
  WriteText(json, "shortDescription", Sentence(std::string(rule.summary)));
  WriteText(json, "fullDescription", Description(rule));
  json.Member("helpUri", RuleUrl(rule));
  const std::string page = rules::RulePage(rule);
  // Readers of Markdown get the page; the text, which the format wants as well, does not repeat it.
  json.Key("help").BeginObject().Member("text", Sentence(std::string(rule.summary)) + " See " + RuleUrl(rule)).Member("markdown", page).EndObject();
  json.Key("defaultConfiguration").BeginObject();
  json.Key("enabled").Bool(rule.on_by_default).Member("level", LevelOf(rule.severity)).EndObject();
  json.Key("properties").BeginObject().Key("tags").BeginArray();
  json.String("distributed-training").String(FamilyOf(rule)).EndArray();
  json.Member("precision", PrecisionOf(rule)).Member("problem.severity", ProblemSeverityOf(rule.severity));
  json.EndObject().EndObject();
}

}  // namespace

void WriteTool(JsonWriter& json, std::string_view version) {
  json.Key("tool").BeginObject().Key("driver").BeginObject();
  json.Member("name", "allranks").Member("version", version).Member("semanticVersion", version);
  json.Member("informationUri", Homepage());
  json.Key("rules").BeginArray();
  for (const rules::Rule* rule : rules::AllRules()) WriteRule(json, *rule);
  json.EndArray().EndObject().EndObject();
}

}  // namespace allranks::reports::sarif
