#include "driver/config/settings.h"

namespace allranks::config {
namespace {

// The level that is asked for; empty: none is.
std::string LevelOf(const rules::Rule& rule, const SeverityChoices& choices) {
  int closest = -1;
  std::string level;
  for (const SeverityChoice& choice : choices) {
    const int closeness = Closeness(choice.rules, rule);
    if (closeness < 0 || closeness < closest) continue;
    closest = closeness;
    level = choice.level;
  }
  return level;
}

}  // namespace

std::optional<findings::Severity> SeverityOf(const rules::Rule& rule, const SeverityChoices& choices) {
  const std::string level = LevelOf(rule, choices);
  if (level == "error") return findings::Severity::Error;
  if (level == "warning") return findings::Severity::Warning;
  if (level == "info") return findings::Severity::Info;
  return std::nullopt;
}

bool IsOff(const rules::Rule& rule, const SeverityChoices& choices) { return LevelOf(rule, choices) == "off"; }

}  // namespace allranks::config
