#include "driver/config/rule_selection.h"

#include <algorithm>

#include "driver/config/spelling.h"

namespace allranks::config {
namespace {

constexpr int kNoMatch = -1;
constexpr int kAll = 0;
constexpr int kThisOne = 1000;

int Closest(std::span<const std::string> selectors, const rules::Rule& rule) {
  int closest = kNoMatch;
  for (const std::string& selector : selectors) closest = std::max(closest, Closeness(selector, rule));
  return closest;
}

// How closely any of them chooses the rule. `ALL` and the beginning of a code leave out what is in preview.
int Chosen(std::span<const std::string> selectors, const rules::Rule& rule, bool preview) {
  const int closest = Closest(selectors, rule);
  return preview || rule.preview.empty() || closest == kThisOne ? closest : kNoMatch;
}

const std::string* FirstUnknown(std::span<const std::string> selectors) {
  const auto unknown = std::find_if_not(selectors.begin(), selectors.end(), IsSelector);
  return unknown == selectors.end() ? nullptr : &*unknown;
}

void Apply(const RuleChoice& choice, bool preview, std::vector<const rules::Rule*>& chosen) {
  std::vector<const rules::Rule*> next;
  for (const rules::Rule* rule : rules::AllRules()) {
    const bool before = std::find(chosen.begin(), chosen.end(), rule) != chosen.end();
    const int ignored = Closest(choice.ignore, *rule);
    const int selected = std::max(choice.select ? Chosen(*choice.select, *rule, preview) : kNoMatch, Chosen(choice.extend, *rule, preview));
    const bool kept = !choice.select && before && ignored == kNoMatch;
    const bool wanted = kept || selected > ignored;
    if (wanted) next.push_back(rule);
  }
  chosen = std::move(next);
}

}  // namespace

int Closeness(std::string_view selector, const rules::Rule& rule) {
  if (selector == "ALL") return kAll;
  if (selector == rule.name || selector == rule.code) return kThisOne;
  if (selector.starts_with("AR") && rule.code.starts_with(selector)) return static_cast<int>(selector.size());
  return kNoMatch;
}

bool IsSelector(std::string_view selector) {
  return std::any_of(rules::AllRules().begin(), rules::AllRules().end(),
                     [&](const rules::Rule* rule) { return Closeness(selector, *rule) != kNoMatch; });
}

std::string_view NearestRule(std::string_view code_or_name) {
  std::vector<std::string_view> candidates;
  for (const rules::Rule* rule : rules::AllRules()) candidates.insert(candidates.end(), {rule->code, rule->name});
  return Nearest(code_or_name, candidates);
}

std::string UnknownRule(std::string_view code_or_name) {
  const std::string_view nearest = NearestRule(code_or_name);
  std::string message = "no rule `" + std::string(code_or_name) + "`";
  if (!nearest.empty()) return message + "; did you mean `" + std::string(nearest) + "`?";
  return message + "; `allranks rule --all` lists them";
}

base::Result<std::vector<const rules::Rule*>> SelectRules(std::span<const RuleChoice> choices, bool preview) {
  std::vector<const rules::Rule*> chosen;
  for (const rules::Rule* rule : rules::AllRules()) {
    if (rule->on_by_default || (preview && !rule->preview.empty())) chosen.push_back(rule);
  }
  for (const RuleChoice& choice : choices) {
    const std::string* unknown = choice.select ? FirstUnknown(*choice.select) : nullptr;
    if (unknown == nullptr) unknown = FirstUnknown(choice.extend);
    if (unknown == nullptr) unknown = FirstUnknown(choice.ignore);
    if (unknown != nullptr) return base::Fail(choice.origin + ": " + UnknownRule(*unknown));
    Apply(choice, preview, chosen);
  }
  return chosen;
}

bool HidesPreviews(const rules::Rule& rule, std::span<const RuleChoice> choices, bool preview) {
  if (preview || rule.preview_in_part.empty()) return false;
  bool is_named = false;
  for (const RuleChoice& choice : choices) {
    // A list replaces those before it.
    if (choice.select) is_named = Closest(*choice.select, rule) == kThisOne;
    is_named = is_named || Closest(choice.extend, rule) == kThisOne;
  }
  return !is_named;
}

}  // namespace allranks::config
