#include "driver/reports/links.h"

namespace allranks::reports {

std::string_view Homepage() { return ALLRANKS_HOMEPAGE; }

std::string RuleUrl(const rules::Rule& rule) {
  return std::string(Homepage()) + "/blob/" ALLRANKS_DOCUMENTATION_REF "/docs/rules/" + std::string(rule.code) + "-" + std::string(rule.name) + ".md";
}

}  // namespace allranks::reports
