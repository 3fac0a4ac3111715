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

}  // namespace

void ApplyPolicy(const Options& options, const PathMap& paths, const source::SourceFiles& files,
                 std::vector<Finding>& findings) {
  for (const FileIgnore& ignore : options.file_ignores) {
    const IgnoreFile pattern(ignore.pattern);
    std::erase_if(findings, [&](const Finding& finding) {
      return SpeaksOf(ignore.rules, finding.code) && pattern.IgnoresFileOrFolder(paths.Relative(files[finding.span.file].path));
    });
  }
  if (options.severity.empty()) return;
  for (Finding& finding : findings) {
    const rules::Rule* rule = rules::FindRule(finding.code);
    if (rule == nullptr) continue;
    finding.severity = config::SeverityOf(*rule, options.severity).value_or(finding.severity);
  }
}

}  // namespace allranks::pipeline
