// Where the reports of a run go: one on the standard output, any number into files.
#pragma once

#include <string>
#include <vector>

#include "analyzer/base/result.h"
#include "driver/cli/arguments.h"
#include "driver/config/settings.h"
#include "driver/reports/report.h"

namespace allranks::cli {

struct OutputPlace {
  std::string format;
  std::string file;  // empty: the standard output
};

// What --output-format, -o and --output ask for together. Two reports on the standard output, or two in one file, are an
// error.
[[nodiscard]] base::Result<std::vector<OutputPlace>> OutputsOf(const CheckArguments& arguments, const config::Settings& settings);

// Writes all of them; false: one could not be written, which was said.
bool Deliver(const CheckArguments& arguments, const std::vector<OutputPlace>& outputs, const reports::Report& report);

}  // namespace allranks::cli
