// `allranks check --verify`: what was found is replayed before it is reported.
#pragma once

#include <string>

#include "analyzer/base/result.h"
#include "driver/reports/report.h"

namespace allranks::cli {

// Replays the findings of the report and notes the verdicts in it. Returns its SARIF with the verdicts. What the verifier
// says on its way goes to stderr.
[[nodiscard]] base::Result<std::string> VerifyFindings(reports::Report& report);

}  // namespace allranks::cli
