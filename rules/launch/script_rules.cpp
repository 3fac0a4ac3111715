#include "rules/launch/script_rules.h"

#include <algorithm>
#include <array>

namespace allranks::rules {

extern const Rule DebugLeftOn;
extern const Rule DeprecatedLauncher;
extern const Rule InvalidZeroConfig;
extern const Rule LocalRankNotHanded;
extern const Rule MixedLaunchers;
extern const Rule ProcessCountMismatch;
extern const Rule RepeatedOption;
extern const Rule UnknownLaunchOption;
extern const Rule UnreadVariableRule;

bool AskForScripts(std::span<const Rule* const> wanted) {
  constexpr std::array<const Rule*, 9> kAsking = {&DebugLeftOn, &DeprecatedLauncher, &InvalidZeroConfig, &LocalRankNotHanded, &MixedLaunchers, &ProcessCountMismatch, &RepeatedOption, &UnknownLaunchOption, &UnreadVariableRule};
  return std::ranges::any_of(wanted, [&](const Rule* rule) { return std::ranges::count(kAsking, rule) > 0; });
}

}  // namespace allranks::rules
