#pragma once

#include "runtime-verify/coordinator/verdict.h"

namespace allranks::verify {

// One object; docs/runtime-verify.md describes it.
std::string VerdictJson(const Verdict& verdict);

// SARIF's `rank`: how much a result deserves to be looked at, 0 to 100.
double PriorityOf(const Verdict& verdict);

}  // namespace allranks::verify
