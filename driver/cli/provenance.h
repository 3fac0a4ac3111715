// What a SARIF report says of the run itself: when, with which arguments, of which commit.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "driver/cli/arguments.h"
#include "driver/reports/report.h"

namespace allranks::cli {

// `root` is the folder of the project; git is asked about it. `exit_code` is that of the run.
reports::RunInfo RunInfoOf(const CheckArguments& arguments, const std::string& root, std::chrono::system_clock::time_point start,
                           int exit_code, const std::function<bool()>& is_stopped);

// "https://host/owner/name" of what git calls a remote; without user and password. Empty: it is no such address.
std::string RepositoryUri(std::string remote);

}  // namespace allranks::cli
