#include "driver/pipeline/policy.h"

#include <algorithm>

#include "driver/pipeline/gitignore.h"

namespace allranks::pipeline {
namespace {

using findings::Finding;

bool SpeaksOf(const std::vector<std::string>& selectors, std::string_view code) {
  const rules::Rule* rule = rules::FindRule(code);
  return rule != nullptr && std::ranges::any_of(selectors, [&](const std::string& selector) {
           return config::Closeness(selector, *rule) >= 0;
         });
}

// Who asks for *possible* findings gets all of them.
bool HidesPreviewsOf(const Policy& policy, std::string_view code) {
  return policy.least != findings::Confidence::Possible &&
         std::ranges::any_of(policy.without_previews, [&](const rules::Rule* rule) { return rule->code == code; });
}

}  // namespace

void ApplyPolicy(const Options& options, const PathMap& paths, const source::SourceFiles& files,
                 std::vector<Finding>& findings) {
  std::erase_if(findings, [&](const Finding& finding) {
    const std::string path = paths.Relative(files[finding.span.file].path);
    return std::ranges::any_of(options.policies.Of(path).file_ignores, [&](const FileIgnore& ignore) {
      return SpeaksOf(ignore.rules, finding.code) && IgnoreFile(ignore.pattern).IgnoresFileOrFolder(path);
    });
  });
  for (Finding& finding : findings) {
    const config::SeverityChoices& choices = options.policies.Of(paths.Relative(files[finding.span.file].path)).severity;
    const rules::Rule* rule = choices.empty() ? nullptr : rules::FindRule(finding.code);
    if (rule != nullptr) finding.severity = config::SeverityOf(*rule, choices).value_or(finding.severity);
  }
}

bool IsShown(const Policy& policy, const Finding& finding) {
  return finding.confidence >= policy.least && !(finding.is_in_preview && HidesPreviewsOf(policy, finding.code));
}

bool Runs(const Policy& policy, std::string_view code) {
  return std::ranges::any_of(policy.rules, [&](const rules::Rule* rule) { return rule->code == code; });
}

std::vector<const rules::Rule*> RulesOf(const Policies& policies) {
  std::vector<const rules::Rule*> wanted;
  for (const rules::Rule* rule : rules::AllRules()) {
    const bool is_wanted = Runs(policies.of_run, rule->code) ||
                           std::ranges::any_of(policies.nested, [&](const Policy& policy) { return Runs(policy, rule->code); });
    if (is_wanted) wanted.push_back(rule);
  }
  return wanted;
}

}  // namespace allranks::pipeline
