#include "rules/launch/launch_rules.h"

#include <algorithm>
#include <iterator>

#include "analyzer/objects/test_files.h"

namespace allranks::rules {

void CheckLaunchFiles(const LaunchContext& context, std::span<const Rule* const> wanted, FindingSink& sink) {
  if (context.launches.files.empty()) return;
  FindingSink found;
  for (const Rule* rule : wanted) {
    if (rule->check_launch != nullptr) rule->check_launch(context, found);
  }
  // What was put together of values has no place of its own.
  std::erase_if(found, [](const findings::Finding& finding) { return !finding.span.file; });
  for (findings::Finding& finding : found) {
    std::erase_if(finding.labels, [](const findings::Label& label) { return !label.span.file; });
    const bool is_test = objects::IsPlaceOfTests(context.files[finding.span.file].path);
    if (is_test) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::TestCode));
  }
  std::ranges::move(found, std::back_inserter(sink));
}

}  // namespace allranks::rules
