#pragma once

#include <string>
#include <string_view>

#include "rules/rule.h"

namespace allranks::reports {

// Where the project lives, as the top CMakeLists.txt says.
std::string_view Homepage();
// The page of a rule there, as it is in this version; of what is not released yet, on the main branch.
std::string RuleUrl(const rules::Rule& rule);

}  // namespace allranks::reports
