#include <algorithm>
#include <map>

#include "driver/reports/paint.h"
#include "rules/rule.h"

namespace allranks::reports {

std::string RenderStatistics(const Report& report, const TextStyle& style) {
  std::map<std::string_view, size_t> counts;
  for (const findings::Finding& finding : report.findings) ++counts[finding.code];
  std::vector<std::pair<std::string_view, size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out;
  for (const auto& [code, count] : sorted) {
    std::string number = std::to_string(count);
    number.insert(0, 6 - std::min<size_t>(6, number.size()), ' ');
    const rules::Rule* rule = rules::FindRule(code);
    out += number + "  " + Paint(style, Ink::Error, code) + "  " + std::string(rule == nullptr ? "" : rule->name) + "\n";
  }
  return out;
}

}  // namespace allranks::reports
