// `allranks rule CODE`: the page of a rule; `--all`: one line each.
#include "rules/rule.h"

#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/terminal.h"
#include "driver/config/rule_selection.h"

namespace allranks::cli {
namespace {

std::string AllRulesText() {
  size_t widest = 0;
  for (const rules::Rule* rule : rules::AllRules()) widest = std::max(widest, rule->name.size());
  std::string out;
  for (const rules::Rule* rule : rules::AllRules()) {
    out += std::string(rule->code) + "  " + std::string(rule->name) + std::string(widest - rule->name.size() + 2, ' ');
    out += std::string(rule->summary) + (rule->on_by_default ? "" : " (off by default)") + "\n";
  }
  return out;
}

}  // namespace

int RunRule(const RuleArguments& arguments) {
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
  return WriteOut(rules::RulePage(*rule)) ? kExitClean : kExitError;
}

}  // namespace allranks::cli
