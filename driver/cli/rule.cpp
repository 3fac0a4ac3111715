// `allranks rule CODE`: the page of a rule; `--all`: one line each.
#include "rules/rule.h"

#include <nlohmann/json.hpp>

#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/terminal.h"
#include "driver/config/rule_selection.h"

namespace allranks::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

// What keeps a rule from running.
std::string Remark(const rules::Rule& rule) {
  if (!rule.preview.empty()) return " (in preview)";
  if (!rule.preview_in_part.empty()) return " (in part in preview)";
  return rule.on_by_default ? "" : " (off by default)";
}

std::string_view FixName(const rules::Rule& rule) {
  if (!rule.has_fix) return "none";
  return rule.fix == rules::Applicability::Safe ? "safe" : rule.fix == rules::Applicability::Unsafe ? "unsafe" : "display";
}

OrderedJson JsonOf(const rules::Rule& rule) {
  return {{"code", rule.code},          {"name", rule.name},   {"summary", rule.summary},   {"severity", findings::ToString(rule.severity)},
          {"default", rule.on_by_default}, {"preview", !rule.preview.empty()},
          {"preview_in_part", !rule.preview_in_part.empty()}, {"languages", rule.languages}, {"fix", FixName(rule)},
          {"explanation", rules::RulePage(rule)}};
}

int RunJson(const RuleArguments& arguments) {
  OrderedJson out;
  if (!arguments.all) out = JsonOf(*rules::FindRule(arguments.rule));
  else for (const rules::Rule* rule : rules::AllRules()) out.push_back(JsonOf(*rule));
  return WriteOut(out.dump(2) + "\n") ? kExitClean : kExitError;
}

std::string AllRulesText() {
  size_t widest = 0;
  for (const rules::Rule* rule : rules::AllRules()) widest = std::max(widest, rule->name.size());
  std::string out;
  for (const rules::Rule* rule : rules::AllRules()) {
    out += std::string(rule->code) + "  " + std::string(rule->name) + std::string(widest - rule->name.size() + 2, ' ');
    out += std::string(rule->summary) + Remark(*rule) + "\n";
  }
  return out;
}

}  // namespace

int RunRule(const RuleArguments& arguments) {
  const bool as_json = arguments.output_format == "json";
  if (arguments.all && as_json) return RunJson(arguments);
  if (arguments.all) return WriteOut(AllRulesText()) ? kExitClean : kExitError;
  if (arguments.rule.empty()) {
    PrintError("no rule given; write `allranks rule AR101`, or `allranks rule --all` for a list");
    return kExitError;
  }
  const rules::Rule* rule = rules::FindRule(arguments.rule);
  if (rule == nullptr) {
    PrintError(config::UnknownRule(arguments.rule));
    return kExitError;
  }
  if (as_json) return RunJson(arguments);
  return WriteOut(rules::RulePage(*rule)) ? kExitClean : kExitError;
}

}  // namespace allranks::cli
