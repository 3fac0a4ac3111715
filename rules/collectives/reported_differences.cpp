#include "rules/collectives/reported_differences.h"

#include <algorithm>
#include <optional>

#include "rules/collectives/difference_finding.h"
#include "rules/collectives/file_tests.h"

namespace allranks::rules {
namespace {

using traces::DifferenceKind;

// Of the others, ranks are told apart by more than what they find, or the disk says nothing about who comes.
bool MayBeFileTest(DifferenceKind kind) {
  return kind == DifferenceKind::DataBranch || kind == DifferenceKind::TripCount || kind == DifferenceKind::GroupCreation;
}

void AddTo(std::vector<FileLook>& looks, const objects::Site& site, const traces::Difference& difference) {
  const auto known = std::ranges::find(looks, site, &FileLook::site);
  if (known != looks.end()) known->differences.push_back(&difference);
  else looks.push_back({site, {&difference}});
}

}  // namespace

ReportedDifferences ReportedDifferencesOf(const Context& context) {
  const FileTests file_tests(context);
  ReportedDifferences reported;
  for (const traces::Difference& difference : context.analysis.differences) {
    if (IsRuledOut(context, difference)) continue;
    const std::optional<objects::Site> look = MayBeFileTest(difference.kind) ? file_tests.Of(difference) : std::nullopt;
    if (look) AddTo(reported.of_files, *look, difference);
    else reported.each.push_back(difference);
    if (difference.axes.has(knowledge::Axis::Files) && file_tests.AnswersChange(difference)) reported.of_changing_files.insert(&difference);
  }
  return reported;
}

}  // namespace allranks::rules
