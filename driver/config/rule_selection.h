// Which rules run: `--select AR1,AR104 --ignore rank-guarded-collective`, as ruff reads such lists.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/result.h"
#include "rules/rule.h"

namespace allranks::config {

// One place that chooses rules: the configuration file, then the command line. A selector is a code (`AR101`), the
// beginning of one (`AR1`), a name (`rank-guarded-collective`) or `ALL`. The longer selector wins, and of two
// equally long ones the one that ignores.
struct RuleChoice {
  std::optional<std::vector<std::string>> select;  // given: forgets what was chosen before
  std::vector<std::string> extend;                 // besides
  std::vector<std::string> ignore;
  std::string origin;                              // for errors: "--select", "pyproject.toml:12"
};

// In the order of the registry. An unknown selector is an error that says what is near. A rule in preview runs if it is
// named by its full code or its name, or if `preview` lets such rules run like any other.
[[nodiscard]] base::Result<std::vector<const rules::Rule*>> SelectRules(std::span<const RuleChoice> choices, bool preview = false);
// Whether a part of what the rule finds is in preview, and not shown: no choice names the rule.
bool HidesPreviews(const rules::Rule& rule, std::span<const RuleChoice> choices, bool preview);

// Whether some rule is meant by it.
bool IsSelector(std::string_view selector);
// How closely a selector speaks of a rule: negative if not at all.
int Closeness(std::string_view selector, const rules::Rule& rule);

// The code or name nearest to a misspelt one; empty: none.
std::string_view NearestRule(std::string_view code_or_name);
// "no rule `AR1O1`; did you mean `AR101`?": what to say of an unknown one.
std::string UnknownRule(std::string_view code_or_name);

}  // namespace allranks::config
