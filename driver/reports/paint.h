#pragma once

#include <string>
#include <string_view>

#include "analyzer/findings/finding.h"
#include "driver/reports/report.h"

namespace allranks::reports {

enum class Ink { Plain, Bold, Dim, Error, Warning, Info, Margin, Condition, Why, Victim, Good };

// The text in the colour of `ink`, if the style has colours.
std::string Paint(const TextStyle& style, Ink ink, std::string_view text);

Ink InkOf(findings::Severity severity);
Ink InkOf(findings::LabelRole role, findings::Severity severity);

}  // namespace allranks::reports
