#include "rules/launch/launch_rules.h"

#include <algorithm>
#include <array>

namespace allranks::rules {
namespace {

struct Entry {
  std::string_view code;
  void (*check)(const LaunchContext& context, FindingSink& sink);
};

constexpr std::array kChecks = {
    Entry{"AR702", CheckConfigConflict},
    Entry{"AR703", CheckInvalidZeroConfig},
    Entry{"AR901", CheckStandaloneOnManyNodes},
    Entry{"AR902", CheckRendezvousIncomplete},
    Entry{"AR903", CheckPortCollision},
    Entry{"AR904", CheckMixedLaunchers},
    Entry{"AR905", CheckDeprecatedLauncher},
    Entry{"AR906", CheckDebugLeftOn},
    Entry{"AR907", CheckProcessCountMismatch},
    Entry{"AR908", CheckUnknownLaunchOption},
};

}  // namespace

void CheckLaunchFiles(const LaunchContext& context, std::span<const Rule* const> wanted, FindingSink& sink) {
  if (context.launches.files.empty()) return;
  for (const Rule* rule : wanted) {
    const auto entry = std::ranges::find(kChecks, rule->code, &Entry::code);
    if (entry != kChecks.end()) entry->check(context, sink);
  }
  // What was put together of values has no place of its own.
  std::erase_if(sink, [](const findings::Finding& finding) { return !finding.span.file; });
  for (findings::Finding& finding : sink) std::erase_if(finding.labels, [](const findings::Label& label) { return !label.span.file; });
}

}  // namespace allranks::rules
