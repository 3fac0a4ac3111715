#include "rules/launch/launch_rules.h"

#include <algorithm>
#include <iterator>

#include "analyzer/objects/test_files.h"

namespace allranks::rules {
namespace {

// Whether a place is of a test, or of a command that starts one.
bool IsOfTest(const LaunchContext& context, source::Span place) {
  if (objects::IsPlaceOfTests(context.files[place.file].path)) return true;
  const launch::LaunchFile* file = context.launches.Find(place.file);
  return file != nullptr && std::ranges::any_of(file->jobs, [&](const launch::Job& job) {
    const bool is_here = job.span.file == place.file && job.span.begin <= place.begin && place.begin < job.span.end;
    return is_here && objects::IsPlaceOfTests(job.script_path);
  });
}

}  // namespace

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
    if (IsOfTest(context, finding.span)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::TestCode));
  }
  std::ranges::move(found, std::back_inserter(sink));
}

}  // namespace allranks::rules
