// The subcommands, one file each. All return the exit code.
#pragma once

#include "driver/cli/arguments.h"

namespace allranks::cli {

int RunCheck(const CheckArguments& arguments);
// `check --watch`: again whenever a file changes, until interrupted.
int RunWatch(const CheckArguments& arguments);
int RunClean(const CleanArguments& arguments);
int RunDescribe(const DescribeArguments& arguments);
int RunExplain(const ExplainArguments& arguments);
int RunConfig(const ConfigArguments& arguments);
int RunRule(const RuleArguments& arguments);
int RunIr(const IrArguments& arguments);
int RunServer(const ServerArguments& arguments);
int RunTrace(const TraceArguments& arguments);
int RunVersion(const VersionArguments& arguments);

std::string_view Version();

// main(), but for its name.
int Main(int argc, const char* const* argv);

}  // namespace allranks::cli
