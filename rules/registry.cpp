#include <fmt/format.h>

#include <algorithm>

#include "rules/rule.h"

namespace allranks::rules {

#define RULE(name) extern const Rule name;
#include "rules/rules.def"
#undef RULE

namespace {

constexpr const Rule* kRules[] = {
#define RULE(name) &name,
#include "rules/rules.def"
#undef RULE
};

std::string_view FixText(const Rule& rule) {
  if (!rule.has_fix) return "none";
  switch (rule.fix) {
    case Applicability::Safe:
      return "automatic, safe (`--fix`)";
    case Applicability::Unsafe:
      return "automatic, to be reviewed (`--unsafe-fixes`)";
    case Applicability::DisplayOnly:
      return "shown, not applied";
  }
  return "none";
}

std::string_view ScenarioText(Scenario scenario) {
  switch (scenario) {
    case Scenario::None:
      return "nothing to replay";
    case Scenario::SkippedCollective:
      return "a collective that some ranks skip";
    case Scenario::MismatchedCollective:
      return "collectives that do not match";
    case Scenario::GroupCreation:
      return "a group that some ranks do not create";
    case Scenario::Shape:
      return "buffers of unequal size";
    case Scenario::DeviceOrdinal:
      return "a device that a rank does not have";
    case Scenario::EpochOrder:
      return "the order of samples, epoch by epoch";
    case Scenario::UnevenBatches:
      return "ranks with unequal numbers of batches";
    case Scenario::LearningRate:
      return "the same rate on one rank and on many";
    case Scenario::UnusedParameter:
      return "a gradient that one rank never has";
    case Scenario::SampleShares:
      return "the samples that each rank and worker takes";
    case Scenario::Accumulation:
      return "the reductions of each micro-step";
    case Scenario::AveragedGradient:
      return "the gradient of all ranks and that of their batch";
    case Scenario::TensorMemory:
      return "memory that no backend of the group serves";
    case Scenario::FileOrder:
      return "readers while the writer is held";
    case Scenario::LaunchedRanks:
      return "the ranks that each node starts";
  }
  return "nothing to replay";
}

std::string_view PreviewWord(const Rule& rule) {
  if (!rule.preview.empty()) return ", preview";
  return rule.preview_in_part.empty() ? "" : ", in part in preview";
}

std::string PreviewText(const Rule& rule) {
  if (!rule.preview_in_part.empty()) {
    return fmt::format("In preview, shown with `--preview`, with `--min-confidence possible`, or if the rule is selected (`--select {}`), are {}.\n\n",
                       rule.code, rule.preview_in_part);
  }
  if (rule.preview.empty()) return "";
  return fmt::format("In preview: it runs only with `--preview`, or if it is selected (`--select {}`): {}.\n\n", rule.code, rule.preview);
}

}  // namespace

std::span<const Rule* const> AllRules() { return kRules; }

const Rule* FindRule(std::string_view code_or_name) {
  const auto found = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule* rule) {
    return rule->code == code_or_name || rule->name == code_or_name;
  });
  return found == std::end(kRules) ? nullptr : *found;
}

std::string RulePage(const Rule& rule) {
  std::string_view explanation = rule.explanation;
  const size_t first = explanation.find_first_not_of('\n');
  explanation = explanation.substr(first, explanation.find_last_not_of('\n') + 1 - first);
  return fmt::format(
      "# {0}: {1}\n\n"
      "{2}\n\n"
      "| severity | default | languages | fix | replayed by `allranks verify` |\n|---|---|---|---|---|\n"
      "| {3} | {4}{5} | {6} | {7} | {8} |\n\n"
      "{9}{10}\n\n"
      "To accept one finding, end its line with `# allranks: ignore[{0}] reason`.\n",
      rule.code, rule.name, rule.summary, findings::ToString(rule.severity),
      rule.on_by_default ? "on" : "off", PreviewWord(rule),
      rule.languages, FixText(rule), ScenarioText(rule.scenario), PreviewText(rule), explanation);
}

}  // namespace allranks::rules
