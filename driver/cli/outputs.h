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

// Where a report goes that is not written to a file: to stderr where stdout holds the text that was fixed.
enum class Screen : uint8_t { Stdout, Stderr };

// Writes all of them, those in the folder `project` nowhere else; `sarif` for what asks for SARIF if that is made already; false: one could not be written, which was said.
bool Deliver(const CheckArguments& arguments, const std::vector<OutputPlace>& outputs, const reports::Report& report, Screen screen,
             const std::string& project, const std::string& sarif = {});

}  // namespace allranks::cli
