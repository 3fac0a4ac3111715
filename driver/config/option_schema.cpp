// The JSON schema of allranks.toml, for editors and for taplo.
#include <nlohmann/json.hpp>

#include "driver/config/option_table.h"

namespace allranks::config {
namespace {

using Json = nlohmann::ordered_json;

Json TextList() { return {{"type", "array"}, {"items", {{"type", "string"}}}}; }

Json RuleSelector() { return {{"$ref", "#/definitions/rule"}}; }

Json RuleList() { return {{"type", "array"}, {"items", RuleSelector()}}; }

template <class Choices>
Json OneOf(const Choices& choices) {
  Json values = Json::array();
  for (const std::string_view choice : choices) values.push_back(std::string(choice));
  return {{"type", "string"}, {"enum", values}};
}

Json SchemaOf(const Option& option) {
  switch (option.kind) {
    case Kind::Flag: return {{"type", "boolean"}};
    case Kind::Count: return {{"type", "integer"}, {"minimum", 0}};
    case Kind::Choice: return OneOf(option.choices);
    case Kind::Path: return {{"type", "string"}};
    case Kind::Paths:
    case Kind::Words:
    case Kind::PatternList: return TextList();
    case Kind::Rules: return RuleList();
    case Kind::RulesByPattern: return {{"type", "object"}, {"additionalProperties", RuleList()}};
    case Kind::Severities:
      return {{"type", "object"},
              {"propertyNames", RuleSelector()},
              {"additionalProperties", OneOf(SeverityLevels())}};
  }
  return {};
}

// Codes, the beginnings of codes, names, ALL.
Json RuleSchema() {
  std::string pattern = "^(ALL|AR[0-9]{0,3}";
  for (const rules::Rule* rule : rules::AllRules()) pattern += "|" + std::string(rule->name);
  return {{"type", "string"}, {"pattern", pattern + ")$"}, {"description", "a rule's code, the beginning of one, its name, or ALL"}};
}

}  // namespace

std::string OptionSchema() {
  Json properties = Json::object();
  for (const Option& option : AllOptions()) {
    Json schema = SchemaOf(option);
    schema["description"] = std::string(option.summary) + ".\n\n" + std::string(option.text);
    if (option.kind == Kind::Flag || option.kind == Kind::Count || option.kind == Kind::Choice) {
      schema["default"] = Json::parse(option.default_value);
    }
    const size_t dot = option.key.find('.');
    if (dot == std::string_view::npos) {
      properties[std::string(option.key)] = schema;
      continue;
    }
    Json& table = properties[std::string(option.key.substr(0, dot))];
    table["type"] = "object";
    table["additionalProperties"] = false;
    table["properties"][std::string(option.key.substr(dot + 1))] = schema;
  }
  const Json root = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                     {"title", "allranks.toml"},
                     {"type", "object"},
                     {"additionalProperties", false},
                     {"properties", properties},
                     {"definitions", {{"rule", RuleSchema()}}}};
  return root.dump(2) + "\n";
}

}  // namespace allranks::config
