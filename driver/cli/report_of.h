#pragma once

#include "driver/cli/arguments.h"
#include "driver/cli/known.h"
#include "driver/pipeline/pipeline.h"
#include "driver/reports/report.h"

namespace allranks::cli {

// What --timeout-per-file and --max-memory left out; empty: nothing.
std::string CutShort(const CheckArguments& arguments, const pipeline::Output& out);

// Why nothing was checked although nothing went wrong; empty: something was.
std::string NothingChecked(const CheckArguments& arguments, const pipeline::Output& out);

// What a run found as what is reported; it refers to `out` and `known`.
reports::Report ReportOf(const CheckArguments& arguments, const pipeline::Options& options, const pipeline::Output& out, const Known& known,
                         const source::FileSystem& files);

}  // namespace allranks::cli
