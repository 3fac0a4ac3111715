// AR915 and a part of AR116: what ends every run of a job, by an error on all ranks or on some.
#pragma once

#include "analyzer/objects/sure_failures.h"
#include "rules/rule.h"

namespace allranks::rules {

inline constexpr std::string_view kFailsOnEveryRank = "AR915";
inline constexpr std::string_view kFailureOnOneRank = "AR116";

// Whether a rule tells of what ends every run: each place has to be fixed, also one behind another.
constexpr bool TellsOfEnds(std::string_view code) { return code == kFailsOnEveryRank || code == "AR505"; }

// On one thread: `failures` notes what it was asked.
void CheckSureEnds(const Context& context, const objects::SureFailures& failures, FindingSink& sink);

}  // namespace allranks::rules
