// Which differences between ranks are reported, and how: asked once, for all rules about them.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

ReportedDifferences ReportedDifferencesOf(const Context& context);

}  // namespace allranks::rules
