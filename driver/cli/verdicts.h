#pragma once

#include <map>
#include <string>

#include "analyzer/base/result.h"
#include "analyzer/source/file_system.h"
#include "driver/reports/report.h"

namespace allranks::cli {

// By the name of the witness and by the fingerprint.
using Verdicts = std::map<std::string, reports::Verification>;

// What `allranks verify -o FILE` has written into a JSON or SARIF report, or what `allranks explain --format json` answers.
[[nodiscard]] base::Result<Verdicts> ReadVerdicts(const std::string& path, const source::FileSystem& files);

}  // namespace allranks::cli
