#include "rules/launch/launch_rules.h"

#include <algorithm>

namespace allranks::rules {

void CheckLaunchFiles(const LaunchContext& context, std::span<const Rule* const> wanted, FindingSink& sink) {
  if (context.launches.files.empty()) return;
  for (const Rule* rule : wanted) {
    if (rule->check_launch != nullptr) rule->check_launch(context, sink);
  }
  // What was put together of values has no place of its own.
  std::erase_if(sink, [](const findings::Finding& finding) { return !finding.span.file; });
  for (findings::Finding& finding : sink) std::erase_if(finding.labels, [](const findings::Label& label) { return !label.span.file; });
}

}  // namespace allranks::rules
